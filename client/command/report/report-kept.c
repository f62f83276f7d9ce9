/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/report/report-kept.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/command/frame/command.h"
#include "client/command/frame/output.h"
#include "client/command/report/kept.h"
#include "client/libuncore/uncore.h"
#include "client/records/record-csv.h"
#include "client/report/json.h"
#include "client/report/print.h"
#include "common/jsonwriter.h"
#include "common/macro.h"

static bool is_wanted(const struct report_options *options, const struct kept *kept)
{
	return options->running || !kept->n_living;
}

static void say_running(FILE *out, const struct report_options *options, const struct kept *kept)
{
	fputs(options->output == REPORT_TABLE ? "" : "uncore report: ", out);
	record_print_origin(out, &kept->record);
	fprintf(out, kept->n_living == 1 ? ": 1 process still runs" : ": %u processes still run",
		kept->n_living);
	fprintf(out, options->running ? ".\n" : "; --running shows what it did so far.\n");
}

/* --- outputs --- */

static void show_tables(const struct report_options *options, const struct kept_list *list)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (is_wanted(options, &list->teams[i]))
			record_print(stdout, &list->teams[i].record);
	if (!list->n && !list->n_unreadable)
		printf("uncored keeps nothing of %s user's jobs.\n",
			options->uid == UNCORE_UNKNOWN_USER ? "this" : "that");
}

static int show_json(const struct report_options *options, const struct kept_list *list)
{
	_cleanup_(jsonwriter_done) struct jsonwriter json;
	_cleanup_free_ char *text = NULL;
	int r;

	jsonwriter_init(&json, true);
	jsonwriter_array(&json, NULL);
	for (uint32_t i = 0; i < list->n; i++)
		if (is_wanted(options, &list->teams[i]))
			record_json_member(&json, NULL, &list->teams[i].record);
	jsonwriter_close(&json);
	r = jsonwriter_finish(&json, &text);
	if (r == 0)
		printf("%s\n", text);
	return r;
}

static int show_csv(const struct report_options *options, const struct kept_list *list)
{
	_cleanup_free_ struct record *records = calloc(list->n ? list->n : 1, sizeof *records);
	uint32_t n = 0;

	if (!records)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->n; i++)
		if (is_wanted(options, &list->teams[i]))
			records[n++] = list->teams[i].record; /* borrowed */
	record_csv(stdout, records, n, NULL);
	return 0;
}

static int show_output(const struct report_options *options, const struct kept_list *list)
{
	switch (options->output) {
	case REPORT_JSON:
		return show_json(options, list);
	case REPORT_CSV:
		return show_csv(options, list);
	default:
		show_tables(options, list);
		return 0;
	}
}

/* --- all --- */

/* Lines that are not part of JSON and CSV go to stderr. */
static int show(const struct report_options *options, const struct kept_list *list)
{
	int r = show_output(options, list);

	for (uint32_t i = 0; i < list->n && r == 0; i++)
		if (list->teams[i].n_living)
			say_running(options->output == REPORT_TABLE ? stdout : stderr, options,
				&list->teams[i]);
	if (list->n_unreadable)
		fprintf(stderr, "uncore report: %s\n", list->why_unreadable);
	return r;
}

static int fail(int error)
{
	fprintf(stderr, "uncore report: %s\n",
		error == -ENOMEM ? "There is no memory for what uncored keeps."
				 : uncore_error_text());
	return EXIT_FAILED;
}

/* A team is forgotten only after it was written. */
static int show_and_forget(const struct report_options *options, const struct kept_choice *choice,
	const struct kept_list *list)
{
	int r = show(options, list);

	if (r < 0)
		return fail(r);
	if (output_check(stdout, "uncore report", "stdout") < 0)
		return EXIT_FAILED;
	if (!options->keep)
		r = kept_forget(choice, list);
	if (r < 0)
		return fail(r);
	return list->n_unreadable ? EXIT_FAILED : 0;
}

int report_kept(const struct report_options *options)
{
	const struct kept_choice choice = { .uid = options->uid };
	struct kept_list list;
	int r = kept_get(&choice, &list);
	int status = r < 0 ? fail(r) : show_and_forget(options, &choice, &list);

	kept_done(&list);
	return status;
}
