/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/command/frame/command.h"
#include "client/command/frame/json-files.h"
#include "client/command/report/found.h"
#include "client/command/report/merge.h"
#include "client/libuncore/uncore.h"
#include "client/records/read.h"
#include "common/macro.h"

/* --- a record --- */

static int found_read_record(struct found_files *found, char *text, char why[JSON_READER_WHY_MAX])
{
	const uint32_t first = found->list.n;
	int r = record_list_parse(text, &found->list, why);

	for (uint32_t i = first; r == 0 && found->options->of_job && i < found->list.n; i++)
		r = found->list.records[i].rows ? 0 : -ENOMSG;
	if (r == -ENOMSG && found->options->of_job)
		snprintf(why, JSON_READER_WHY_MAX, "is not a record of a job");
	if (r < 0) {
		record_list_cut(&found->list, first);
		return r;
	}
	r = found_take(found, first);
	if (r < 0)
		snprintf(why, JSON_READER_WHY_MAX, "has no room: %s", strerror(-r));
	return r;
}

/* --- a text --- */

/* In a log each line is a record: the first one ends as a record does, and another one follows. */
static bool is_log(const char *text)
{
	const char *first = text + strspn(text, " \t\r\n");
	const char *end = first + strcspn(first, "\n");
	const bool has_more = end[strspn(end, " \t\r\n")];

	while (end > first && strchr(" \t\r", end[-1]))
		end--;
	return has_more && *first == '{' && end[-1] == '}';
}

/* Says what is wrong; a folder may hold other JSON beside the records, which is not a failure. */
static void found_complain(struct found_files *found, const struct json_file *file, unsigned line,
	int error, const char *why)
{
	if (found->others)
		return;
	found->failed |= !file->name || error != -ENOMSG;
	if (found->again)
		return;
	fprintf(stderr, "%s: %s", found->options->table->command, file->path);
	if (line)
		fprintf(stderr, ", line %u: it", line);
	fprintf(stderr, " %s%s.\n", why, file->name ? "; it is left out" : "");
}

static void found_read_text(struct found_files *found, const struct json_file *file, char *text)
{
	const bool has_lines = is_log(text);
	char *rest = text, why[JSON_READER_WHY_MAX];
	unsigned line = 0;
	int r = 0;

	while (rest && (r == 0 || !file->name)) {
		char *record = has_lines ? strsep(&rest, "\n") : take_ptr(rest);

		line += has_lines;
		r = has_lines && !record[strspn(record, " \t\r")]
			    ? 0
			    : found_read_record(found, record, why);
		if (r < 0)
			found_complain(found, file, line, r, why);
	}
}

/* --- a file --- */

/* False: it is not of `uncore run --heap`. Without --arrays a folder may hold it, too. */
static bool read_arrays(struct found_files *found, const struct json_file *file)
{
	char *text = NULL;
	int r = 0;

	if (file->name ? !arrays_is_text(file->text) : !arrays_is_file(file->path))
		return false;
	if (!found->options->arrays && file->name)
		return true;
	if (!found->options->arrays)
		r = -EOPNOTSUPP;
	else if (!found->again)
		r = file->name ? ((text = strdup(file->text)) ? 0 : -ENOMEM)
			       : record_read_text(file->path, &text);
	if (text)
		r = arrays_add(&found->arrays, text);
	if (r < 0)
		found_complain(found, &(struct json_file){ .path = file->path }, 0, r,
			r == -EOPNOTSUPP ? "is of `uncore run --heap`: --arrays shows it"
					 : "cannot be read as what `uncore run --heap` writes");
	return true;
}

/* A file that the caller named may also be the table of a process that ended without a report; see
 * libuncore(3). */
static int found_read_named(const char *path, char **ret_text, char why[JSON_READER_WHY_MAX])
{
	const bool is_stdin = strcmp(path, "-") == 0;
	int r = is_stdin ? -ENOMSG : uncore_table_record(path, ret_text);

	if (r >= 0)
		return 0;
	if (r != -ENOMSG) {
		snprintf(why, JSON_READER_WHY_MAX, "cannot be read: %.*s",
			(int)strcspn(uncore_error_text(), "."), uncore_error_text());
		return r;
	}
	r = is_stdin ? record_read_fd(STDIN_FILENO, RECORD_FILE_MOST_BYTES, ret_text)
		     : record_read_text(path, ret_text);
	snprintf(why, JSON_READER_WHY_MAX, "cannot be read: %s", strerror(-r));
	return r;
}

static void found_read(const struct json_file *file, void *argument)
{
	struct found_files *found = argument;
	const struct json_file named = { strcmp(file->path, "-") == 0 ? "stdin" : file->path, NULL,
		NULL };
	_cleanup_free_ char *text = NULL;
	char why[JSON_READER_WHY_MAX];
	int r;

	if (!file->name && (found->others || (found->options->merge && merge_is_csv(file->path))))
		return; /* merge_show() reads it */
	if (read_arrays(found, file))
		return;
	if (file->name) {
		found_read_text(found, file, file->text);
		return;
	}
	r = found_read_named(file->path, &text, why);
	if (r == 0)
		found_read_text(found, &named, text);
	else
		found_complain(found, &named, 0, r, why);
}

/* --- all --- */

/* Of the files JOB@... of other jobs, only JOB@HOST.json of the job's hosts are read, and later. */
static bool found_wants(const char *name, void *argument)
{
	const struct found_files *found = argument;
	const char *host = strchr(name, '@'), *end = strrchr(name, '.');
	char text[sizeof((struct record *)NULL)->host];

	if (!found->options->job || json_file_may_be_of(name, found->options->job))
		return !found->others;
	if (!found->others || !host || !end || end <= host || strcmp(end, ".json") != 0)
		return false;
	snprintf(text, sizeof text, "%.*s", (int)(end - host - 1), host + 1);
	return join_has_host(&found->join, text);
}

void found_read_all(struct found_files *found)
{
	const bool failed = found->failed;
	const struct json_files files = {
		.title = found->options->table->command,
		.paths = found->options->paths,
		.n = found->options->n_paths,
		.trust = &found->options->trust,
		.most_bytes =
			found->options->of_job ? RECORD_JOB_MOST_BYTES : RECORD_FILE_MOST_BYTES,
		.again = found->again,
		.wants = found_wants,
	};

	if (!json_files_each(&files, found_read, found))
		found->failed = true;
	if (found->others)
		found->failed = failed;
}
