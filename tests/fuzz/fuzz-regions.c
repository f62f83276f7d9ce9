/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any text as the record of a node, through all that `uncore report` does with it. The input is a
 * list of hosts, a newline, and texts of records, or of arrays of them, with a NUL between them.
 *
 * With any input what was read is written as a record that reads the same, and no line of a table
 * has a control character.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "client/launcher/hostlist.h"
#include "client/records/join.h"
#include "client/records/parse.h"
#include "client/records/read.h"
#include "client/report/json.h"
#include "client/report/print.h"
#include "common/jsonwriter.h"
#include "common/macro.h"
#include "common/text.h"
#include "tests/fuzz/target.h"

enum { TEXTS_MOST = 4 };

static void expect_the_same_back(const struct record *record)
{
	_cleanup_free_ char *text = NULL, *copy = NULL, *again = NULL;
	char why[JSON_READER_WHY_MAX];
	struct record read;

	if (record_json(record, &text) < 0)
		err(1, "Cannot write a record");
	copy = strdup(text);
	if (record_parse(copy, &read, why) < 0)
		errx(1, "What was written %s.", why);
	if (record_json(&read, &again) < 0 || strcmp(text, again) != 0)
		abort();
	record_done(&read);
}

/* A table may hold newlines only as ends of lines, so these are all that is not plain. */
static void expect_plain(char *text)
{
	for (char *at = text; *at; at++)
		if (*at == '\n')
			*at = ' ';
	if (!text_is_plain(text))
		abort();
}

static FILE *begin_text(char **text, size_t *size_bytes)
{
	FILE *out = open_memstream(text, size_bytes);

	if (!out)
		err(1, "Cannot begin a text");
	return out;
}

static void show_one(const struct record *record)
{
	_cleanup_free_ char *text = NULL;
	size_t size_bytes;
	FILE *out = begin_text(&text, &size_bytes);

	expect_the_same_back(record);
	record_print(out, record);
	record_csv_titles(out);
	record_csv_lines(out, record, 0);
	fclose(out);
	expect_plain(text);
}

static void write_sum(
	const struct join *join, const struct hostlist *hosts, const char *notes, bool is_page)
{
	_cleanup_free_ char *text = NULL;
	struct jsonwriter json;

	jsonwriter_init(&json, false);
	jsonwriter_object(&json, NULL);
	join_json(&json, join, hosts, notes, is_page);
	jsonwriter_close(&json);
	if (jsonwriter_finish(&json, &text) < 0)
		err(1, "Cannot write a sum");
}

static void show_sum(const struct join *join, const struct hostlist *hosts)
{
	_cleanup_free_ char *notes = NULL, *text = NULL;
	size_t size_bytes;
	FILE *out = begin_text(&notes, &size_bytes);

	for (uint32_t i = 0; i < join->n_records; i++)
		if (!names_have(&join->hosts, join->records[i].host))
			abort();
	notes_write_missing(join, hosts, out);
	notes_write(join, out);
	fclose(out);
	out = begin_text(&text, &size_bytes);
	join_print(out, join, notes, true);
	join_print(out, join, notes, false);
	record_csv(out, join);
	fclose(out);
	expect_plain(text);
	write_sum(join, hosts, notes, false);
	write_sum(join, hosts, notes, true);
}

static void join_and_show(struct record_list *list, const struct hostlist *hosts)
{
	_cleanup_free_ char *twins = NULL;
	size_t size_bytes;
	FILE *out = begin_text(&twins, &size_bytes);
	struct join join;

	notes_leave_out_twins(list, out);
	fclose(out);
	if (join_records(list, false, &join) < 0)
		err(1, "Cannot join");
	show_sum(&join, hosts);
	join_done(&join);
}

/* The same records, of which little is kept. Takes them. */
static void fold_and_show(struct record_list *list)
{
	_cleanup_free_ char *text = NULL;
	size_t size_bytes;
	FILE *out = begin_text(&text, &size_bytes);
	struct join join = { .n_records = 0 };

	for (uint32_t i = 0; i < list->n; i++)
		if (join_fold(&join, &list->records[i]) < 0)
			err(1, "Cannot fold");
	if (list->n && join_end_folding(&join) == 0) {
		notes_write(&join, out);
		join_print(out, &join, "", false);
	}
	fclose(out);
	expect_plain(text);
	join_done(&join);
}

static void read_and_show(const char *text, struct record_list *list, struct record_list *folded)
{
	_cleanup_free_ char *first = strdup(text), *second = strdup(text);
	const uint32_t n_before = list->n;
	char why[JSON_READER_WHY_MAX];

	if (record_list_parse(first, list, why) < 0 && (!text_is_plain(why) || list->n != n_before))
		abort();
	for (uint32_t i = n_before; i < list->n; i++)
		show_one(&list->records[i]);
	record_list_parse(second, folded, why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	_cleanup_free_ char *input = malloc(size_bytes + 1);
	struct hostlist hosts = { .n_names = 0 };
	struct record_list list = { .n = 0 }, folded = { .n = 0 };
	char *text;

	if (!input)
		err(1, "Cannot begin");
	if (size_bytes)
		memcpy(input, data, size_bytes);
	input[size_bytes] = '\0';
	text = input + strcspn(input, "\n");
	if (*text)
		*text++ = '\0';
	hostlist_parse(input, &hosts);
	for (int i = 0; i < TEXTS_MOST && text < input + size_bytes; i++, text += strlen(text) + 1)
		read_and_show(text, &list, &folded);
	if (list.n)
		join_and_show(&list, &hosts);
	fold_and_show(&folded);
	record_list_done(&list);
	record_list_done(&folded);
	hostlist_done(&hosts);
	return 0;
}
