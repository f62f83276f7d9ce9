/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/record/job-records.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/command/frame/json-files.h"
#include "client/command/job/record/job-time.h"
#include "client/records/parse.h"
#include "client/records/read.h"
#include "common/macro.h"

static const char TITLE[] = "uncore job report";

void job_records_done(struct job_records *records)
{
	for (size_t i = 0; i < records->n; i++)
		job_record_done(&records->all[i]);
	free(records->all);
	*records = (struct job_records){ .n = 0 };
}

static int add(struct job_records *records, struct job_record *record)
{
	if ((records->n & (records->n - 1)) == 0) {
		size_t n = records->n ? 2 * records->n : 1;
		struct job_record *larger = reallocarray(records->all, n, sizeof *larger);

		if (!larger)
			return -ENOMEM;
		records->all = larger;
	}
	records->all[records->n++] = *record;
	*record = (struct job_record){ .json = NULL };
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
	char begin[JOB_TIME_MAX];
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

static int parse_line(const struct source *source, const char *line, char why[JSON_READER_WHY_MAX])
{
	_cleanup_(job_record_done) struct job_record record = { .json = NULL };
	struct job_records *records = source->records;
	struct json_object *json = NULL;
	int r = record_parse_json(line, &json, why);

	if (r == 0)
		r = job_record_parse(json, &record, why);
	json_object_put(json);
	if (r == 0 && source->file && !is_named_so(source->file, &record)) {
		snprintf(why, JSON_READER_WHY_MAX,
			"is the record of job %s on %.64s that began at %s, but its name is that "
			"of another",
			record.id, record.host, *record.begin ? record.begin : "no known time");
		r = -EBADMSG;
	}
	if (r < 0)
		return r;
	if (records->id && strcmp(record.id, records->id) != 0)
		job_record_drop_figures(&record);
	r = add(records, &record);
	if (r < 0)
		snprintf(why, JSON_READER_WHY_MAX, "has no room: %s", strerror(-r));
	return r;
}

static void take_text(const struct source *source, char *text)
{
	char *rest = text, *line, why[JSON_READER_WHY_MAX];

	for (unsigned n = 1; (line = strsep(&rest, "\n")); n++) {
		int r = line[strspn(line, " \t\r")] ? parse_line(source, line, why) : 0;

		if (r == 0)
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
	take_text(&(struct source){ .records = records, .name = name }, text);
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

	if (file->name) {
		take_text(&source, file->text);
		return;
	}
	r = is_stdin ? record_read_fd(STDIN_FILENO, RECORD_FILE_MOST_BYTES, &text)
		     : record_read_text(file->path, &text);
	if (r == 0) {
		take_text(&source, text);
		return;
	}
	fprintf(stderr, "%s: %s cannot be read: %s.\n", TITLE, source.name, strerror(-r));
	source.records->failed = true;
}

/* --- duplicates --- */

static int compare(const void *a, const void *b)
{
	const struct job_record *x = a, *y = b;
	int order = strcmp(x->id, y->id);

	if (order == 0)
		order = (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
	if (order == 0)
		order = (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
	return order ? order : strcmp(x->host, y->host);
}

static bool is_twin(const struct job_record *a, const struct job_record *b)
{
	return compare(a, b) == 0 && json_object_equal(a->json, b->json);
}

/* The same record may be in a log and in a file, or in two copies of a file. */
void job_records_drop_twins(struct job_records *records)
{
	size_t n = 0;

	if (records->n)
		qsort(records->all, records->n, sizeof *records->all, compare);
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
	const struct json_files files = {
		.title = TITLE,
		.paths = paths,
		.n = n_paths,
		.trust = trust,
		.most_bytes = RECORD_MOST_BYTES,
	};

	if (!json_files_each(&files, take_file, records))
		records->failed = true;
	job_records_drop_twins(records);
}
