/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/command/frame/command.h"
#include "client/command/job/record/record-file.h"
#include "client/command/job/report.h"
#include "client/records/read.h"
#include "common/macro.h"

/* Of the files JOB@... of other jobs, only JOB@HOST.json of the job's hosts are read. */
bool job_report_wants(const struct found_files *found, const char *name)
{
	const struct job_found *of = found->reader.owner;
	const char *host = strchr(name, '@'), *end = strrchr(name, '.');
	char text[sizeof((struct record *)NULL)->host];

	if (json_file_may_be_of(name, found->options->job))
		return !of->others;
	if (!of->others || !host || !end || end <= host || strcmp(end, ".json") != 0)
		return false;
	snprintf(text, sizeof text, "%.*s", (int)(end - host - 1), host + 1);
	return names_have_host(&of->hosts, text);
}

/* Does a file's name agree with its record? Names are ID@BEGIN.json, ID@BEGIN.2.json and
 * ID@HOST.json; a name without "@" agrees with any record. A record without a begin has the time of
 * its end. */
static bool is_named_so(const char *file, const struct record *record)
{
	const size_t before = strcspn(file, "@");
	const char *rest = file + before + 1;
	char begin[RECORD_TIME_MAX];
	size_t n = strlen(record->host);

	if (!file[before])
		return true;
	if (strlen(record->job) != before || strncmp(file, record->job, before) != 0)
		return false;
	if (n && strncmp(rest, record->host, n) == 0 && strcmp(rest + n, ".json") == 0)
		return true;
	job_time_in_name(record->begun_ns ? record->begun_ns : record->ended_ns, begin);
	n = strlen(begin);
	return strncmp(rest, begin, n) == 0 && rest[n] == '.';
}

/* Looks at what a line had. */
static int report_read_check(
	const struct json_file *file, const struct record *record, char why[JSON_READER_WHY_MAX])
{
	char begun[RECORD_TIME_MAX];

	if (!record->rows) {
		snprintf(why, JSON_READER_WHY_MAX, "is not a record of a job");
		return -ENOMSG;
	}
	if (!file->name || is_named_so(file->name, record))
		return 0;
	record_time_ms(record->begun_ns, begun);
	snprintf(why, JSON_READER_WHY_MAX,
		"is the record of job %s on %.64s that began at %s, but its name is that of "
		"another",
		record->job, record->host, *begun ? begun : "no known time");
	return -EBADMSG;
}

static int report_read_line(struct found_files *found, const struct json_file *file, char *line,
	char why[JSON_READER_WHY_MAX])
{
	_cleanup_free_ char *text = found->options->output == REPORT_JSON ? strdup(line) : NULL;
	const uint32_t first = found->list.n;
	int r = record_list_parse(line, &found->list, why);

	if (r == -ENOMSG)
		snprintf(why, JSON_READER_WHY_MAX, "is not a record of a job");
	for (uint32_t i = first; r == 0 && i < found->list.n; i++)
		r = report_read_check(file, &found->list.records[i], why);
	if (r < 0) {
		record_list_cut(&found->list, first);
		return r;
	}
	found->list.records[first].batch.text = take_ptr(text);
	r = found_take(found, first);
	if (r < 0)
		snprintf(why, JSON_READER_WHY_MAX, "has no room: %s", strerror(-r));
	return r;
}

static void report_read_text(struct found_files *found, const struct json_file *file, char *text)
{
	const struct job_found *of = found->reader.owner;
	char *rest = text, *line, why[JSON_READER_WHY_MAX];

	for (unsigned n = 1; (line = strsep(&rest, "\n")); n++) {
		int r = line[strspn(line, " \t\r")] ? report_read_line(found, file, line, why) : 0;

		if (r == 0 || of->others)
			continue;
		if (!found->again)
			fprintf(stderr, "%s: %s, line %u: it %s%s.\n",
				found->options->table->command, file->path, n, why,
				file->name ? "; it is left out" : "");
		found->failed |= !file->name || r != -ENOMSG;
		if (file->name)
			return; /* a file in a folder is not a log */
	}
}

/* The text of a file that the caller named. */
static int report_read_named(struct job_found *of, const char *path, char **ret_text)
{
	int r;

	if (path)
		return record_read_text(path, ret_text);
	r = of->from_stdin ? 0
			   : record_read_fd(STDIN_FILENO, RECORD_FILE_MOST_BYTES, &of->from_stdin);
	if (r < 0)
		return r;
	*ret_text = strdup(of->from_stdin);
	return *ret_text ? 0 : -ENOMEM;
}

void job_report_read(struct found_files *found, const struct json_file *file)
{
	struct job_found *of = found->reader.owner;
	const bool is_stdin = strcmp(file->path, "-") == 0;
	const struct json_file source = { is_stdin ? "stdin" : file->path, file->name, NULL };
	_cleanup_free_ char *text = NULL;
	int r = 0;

	if (of->others && !file->name)
		return;
	if (!file->name)
		r = report_read_named(of, is_stdin ? NULL : file->path, &text);
	if (r == 0) {
		report_read_text(found, &source, file->name ? file->text : text);
		return;
	}
	fprintf(stderr, "%s: %s cannot be read: %s.\n", found->options->table->command, source.path,
		strerror(-r));
	found->failed = true;
}
