/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/record/job-records.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/command/frame/json-files.h"
#include "client/command/job/record/record-file.h"
#include "client/records/read.h"
#include "common/array.h"
#include "common/macro.h"

static const char TITLE[] = "uncore job report";

void job_records_done(struct job_records *records)
{
	for (size_t i = 0; i < records->n; i++)
		job_record_done(&records->all[i]);
	free(records->all);
	join_done(&records->join);
	*records = (struct job_records){ .n = 0 };
}

static int job_records_add(struct job_records *records, struct job_record *record)
{
	if (array_room(&records->all, records->n, sizeof *records->all) < 0)
		return -ENOMEM;
	records->all[records->n++] = *record;
	*record = (struct job_record){ .text = NULL };
	return 0;
}

/* --- reading --- */

struct source {
	struct job_records *records;
	const char *name;
	/* The name in its folder. A folder may hold other JSON, which is named but is not a
	 * failure. NULL: the caller named the source. */
	const char *file;
};

/* Does a file's name agree with its record? Names are ID@BEGIN.json, ID@BEGIN.2.json and
 * ID@HOST.json; a name without "@" agrees with any record. A record without a begin has the time of
 * its end. */
static bool is_named_so(const char *file, const struct job_record *record)
{
	const size_t before = strcspn(file, "@");
	const char *rest = file + before + 1;
	char begin[RECORD_TIME_MAX];
	size_t n = strlen(record->host);

	if (!file[before])
		return true;
	if (strlen(record->id) != before || strncmp(file, record->id, before) != 0)
		return false;
	if (n && strncmp(rest, record->host, n) == 0 && strcmp(rest + n, ".json") == 0)
		return true;
	job_time_in_name(record->begin_ns ? record->begin_ns : record->end_ns, begin);
	n = strlen(begin);
	return strncmp(rest, begin, n) == 0 && rest[n] == '.';
}

/* The text and the sums are all that is kept of figures. */
static int take_figures(struct job_records *records, struct job_record *record)
{
	int r = 0;

	if (records->id && strcmp(record->id, records->id) != 0)
		free(take_ptr(record->text));
	else if (records->id)
		r = join_fold(&records->join, record->record);
	job_record_drop_figures(record);
	return r == -E2BIG ? 0 : r;
}

static int job_records_parse_line(
	const struct source *source, char *line, char why[JSON_READER_WHY_MAX])
{
	_cleanup_(job_record_done) struct job_record record = { .text = NULL };
	struct job_records *records = source->records;
	char begin[RECORD_TIME_MAX];
	int r = job_record_parse(line, &record, why);

	if (r == 0 && source->file && !is_named_so(source->file, &record)) {
		record_time_ms(record.begin_ns, begin);
		snprintf(why, JSON_READER_WHY_MAX,
			"is the record of job %s on %.64s that began at %s, but its name is that "
			"of another",
			record.id, record.host, *begin ? begin : "no known time");
		r = -EBADMSG;
	}
	if (r < 0)
		return r;
	r = take_figures(records, &record);
	if (r == 0)
		r = job_records_add(records, &record);
	if (r < 0)
		snprintf(why, JSON_READER_WHY_MAX, "has no room: %s", strerror(-r));
	return r;
}

static void job_records_take_text(const struct source *source, char *text)
{
	char *rest = text, *line, why[JSON_READER_WHY_MAX];

	for (unsigned n = 1; (line = strsep(&rest, "\n")); n++) {
		int r = line[strspn(line, " \t\r")] ? job_records_parse_line(source, line, why) : 0;

		if (r == 0 || source->records->others)
			continue;
		fprintf(stderr, "%s: %s, line %u: it %s%s.\n", TITLE, source->name, n, why,
			source->file ? "; it is left out" : "");
		source->records->failed |= !source->file || r != -ENOMSG;
		if (source->file)
			return; /* a file in a folder is not a log */
	}
}

void job_records_take(struct job_records *records, const char *name, char *text)
{
	job_records_take_text(&(struct source){ .records = records, .name = name }, text);
}

static bool job_records_is_wanted(const char *name, void *argument)
{
	const struct job_records *records = argument;
	const char *host = strchr(name, '@'), *end = strrchr(name, '.');
	char text[HOSTLIST_NAME_MAX];

	if (json_file_may_be_of(name, records->id))
		return !records->others;
	if (!records->others || !host || !end || end <= host || strcmp(end, ".json") != 0)
		return false;
	snprintf(text, sizeof text, "%.*s", (int)(end - host - 1), host + 1);
	return join_has_host(&records->join, text);
}

static void take_file(const struct json_file *file, void *argument)
{
	const bool is_stdin = strcmp(file->path, "-") == 0;
	const struct source source = {
		.records = argument,
		.name = is_stdin ? "stdin" : file->path,
		.file = file->name,
	};
	_cleanup_free_ char *text = NULL;
	int r;

	if (file->name)
		job_records_take_text(&source, file->text);
	if (file->name || source.records->others)
		return;
	r = is_stdin ? record_read_fd(STDIN_FILENO, RECORD_FILE_MOST_BYTES, &text)
		     : record_read_text(file->path, &text);
	if (r == 0) {
		job_records_take_text(&source, text);
		return;
	}
	fprintf(stderr, "%s: %s cannot be read: %s.\n", TITLE, source.name, strerror(-r));
	source.records->failed = true;
}

/* --- duplicates --- */

static int job_records_compare(const void *a, const void *b)
{
	const struct job_record *x = a, *y = b;
	int order = strcmp(x->id, y->id);

	if (order == 0)
		order = (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
	if (order == 0)
		order = (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
	return order ? order : strcmp(x->host, y->host);
}

/* Members may be in another order. */
static bool job_records_is_same(const char *text, const char *other)
{
	_cleanup_(json_document_done) struct json_document a, b;
	const struct json_value *one = json_document_take(&a, strdup(text));

	return json_is_equal(one, json_document_take(&b, strdup(other)));
}

/* Records of other jobs have no text. */
static bool is_twin(const struct job_record *a, const struct job_record *b)
{
	return job_records_compare(a, b) == 0 &&
	       (!a->text || !b->text ? a->text == b->text : job_records_is_same(a->text, b->text));
}

/* The same record may be in a log and in a file, or in two copies of a file. */
void job_records_drop_twins(struct job_records *records)
{
	size_t n = 0;

	if (records->n)
		qsort(records->all, records->n, sizeof *records->all, job_records_compare);
	for (size_t i = 0; i < records->n; i++) {
		if (n && is_twin(&records->all[n - 1], &records->all[i]))
			job_record_done(&records->all[i]);
		else
			records->all[n++] = records->all[i];
	}
	records->n = n;
}

void job_records_read(
	struct job_records *records, char **paths, int n_paths, const struct trust *trust)
{
	struct json_files files = {
		.title = TITLE,
		.paths = paths,
		.n = n_paths,
		.trust = trust,
		.most_bytes = RECORD_MOST_BYTES,
		.wants = job_records_is_wanted,
	};

	if (!json_files_each(&files, take_file, records))
		records->failed = true;
	files.again = records->others = true;
	if (records->join.n_records)
		json_files_each(&files, take_file, records);
	job_records_drop_twins(records);
}
