/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/options.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/frame/output.h"
#include "client/report/record-time.h"
#include "common/clock.h"
#include "common/jsonwriter.h"
#include "common/macro.h"

/* NULL: the run has a reading. */
static const char *why_without(const struct run_head *head)
{
	switch (head->state) {
	case RUN_BEGINNING:
		return "It has no reading of its begin (yet).";
	case RUN_FAILED:
		return head->why;
	case RUN_ENDED:
	case RUN_CUT:
		return "It has ended, and its record waits until it can be written.";
	default:
		return NULL;
	}
}

/* NAN: the run is not open, and may be of another boot. */
static double seconds_since(const struct run_head *head)
{
	return head->ended_ns ? NAN : (double)(clock_now_ns() - head->begun_ns) / 1e9;
}

static void job_list_print_row(const struct run_head *head, bool first)
{
	const char *why = why_without(head);
	const double seconds = seconds_since(head);
	char begun[RECORD_TIME_MAX], user[16] = "-", open_for[32] = "-";
	int at;

	if (first)
		printf(" %-16s %10s  %-24s %14s\n", "job", "user", "begun", "open for");
	record_time_ms(head->begun_ns ? head->begun_real_ns : 0, begun);
	if (head->uid != UNCORE_UNKNOWN_USER)
		snprintf(user, sizeof user, "%u", head->uid);
	if (!isnan(seconds))
		snprintf(open_for, sizeof open_for, "%.0f s", seconds);
	at = printf(" %-16s %10s  %-24s %14s  ", head->id, user, *begun ? begun : "-", open_for);
	output_rest((size_t)at, 5, "%s%s%s%s", *head->key ? "run " : "", head->key,
		*head->key && why ? ", " : "", why ? why : "");
}

static void job_list_write_json(struct jsonwriter *json, const struct run_head *head)
{
	jsonwriter_object(json, NULL);
	jsonwriter_text(json, "job", head->id);
	jsonwriter_text_or_null(json, "step", head->key);
	jsonwriter_known(json, "uid", head->uid != UNCORE_UNKNOWN_USER, head->uid);
	record_json_time(json, "begun", head->begun_ns ? head->begun_real_ns : 0);
	jsonwriter_real(json, "seconds", seconds_since(head));
	jsonwriter_flag(json, "open", !head->ended_ns);
	if (why_without(head))
		jsonwriter_text(json, "failure", why_without(head));
	jsonwriter_close(json);
}

static void show_one(const struct run_head *head, struct jsonwriter *json, bool *first)
{
	if (json)
		job_list_write_json(json, head);
	else
		job_list_print_row(head, *first);
	*first = false;
}

/* Without a folder, there are none. */
static int show_folder(const char *path, struct jsonwriter *json, bool *first)
{
	_cleanup_(folder_runs_done) struct folder_runs runs = { .n = 0 };
	_cleanup_close_ int fd = folder_look(path);
	int r = fd < 0 ? fd : folder_read(fd, RUN_IS_OPEN | RUN_IS_ENDED, NULL, &runs);

	for (size_t i = 0; i < runs.n; i++)
		if (runs.all[i].head.state != RUN_FOREIGN)
			show_one(&runs.all[i].head, json, first);
	return r == -ENOENT ? 0 : r;
}

int job_list(const struct job_options *options)
{
	_cleanup_(jsonwriter_done) struct jsonwriter writer = { .out = NULL };
	struct jsonwriter *json = options->json ? &writer : NULL;
	const char *title = job_verb_title(options->verb);
	bool first = true;
	int r;

	if (json)
		jsonwriter_init(json, true);
	jsonwriter_array(&writer, NULL);
	r = show_folder(options->wish.spool_path, json, &first);
	if (r < 0)
		fprintf(stderr, "%s: records that wait in %s are not shown: %s.\n", title,
			options->wish.spool_path, strerror(-r));
	r = show_folder(options->wish.folder_path, json, &first);
	jsonwriter_close(&writer);
	if (r == 0 && json)
		r = jsonwriter_print(json, stdout);
	return r < 0 ? job_fail(title, &options->wish, r) : 0;
}
