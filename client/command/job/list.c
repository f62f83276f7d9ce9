/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/options.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/frame/output.h"
#include "client/command/job/record/spool.h"
#include "client/command/job/record/view.h"
#include "client/report/json.h"
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
		return "It has ended, and its record waits until it can be written.";
	default:
		return NULL;
	}
}

/* NAN: the run is not open, and may be of another boot. */
static double seconds_since(const struct run_head *head)
{
	return head->state == RUN_ENDED ? NAN : (double)(clock_now_ns() - head->begun_ns) / 1e9;
}

static void print_row(const struct run_head *head, bool first)
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

static void write_json(struct jsonwriter *json, const struct run_head *head)
{
	char begun[RECORD_TIME_MAX];

	record_time_ms(head->begun_ns ? head->begun_real_ns : 0, begun);
	jsonwriter_object(json, NULL);
	job_json_head(json, head);
	jsonwriter_text_or_null(json, "begin", begun);
	jsonwriter_real(json, "seconds", seconds_since(head));
	jsonwriter_flag(json, "open", head->state != RUN_ENDED);
	if (why_without(head))
		jsonwriter_text(json, "why", why_without(head));
	jsonwriter_close(json);
}

static void show_one(const struct run_head *head, struct jsonwriter *json, bool *first)
{
	if (json)
		write_json(json, head);
	else
		print_row(head, *first);
	*first = false;
}

static void show_folder(const struct folder *folder, const struct folder_names *names,
	struct jsonwriter *json, bool *first)
{
	for (size_t i = 0; i < names->n; i++) {
		_cleanup_(run_close) struct run run = { .fd = -1 };

		if (run_open(folder->fd, names->all[i]->d_name, O_RDONLY, &run) == 0)
			show_one(&run.head, json, first);
	}
}

/* Without a spool, no record has ever waited. */
static void show_spool(const struct job_options *options, struct jsonwriter *json, bool *first)
{
	_cleanup_(spool_close) struct spool spool;
	_cleanup_free_ struct spool_entry *all = NULL;
	size_t n = 0;
	int r = spool_look(options->wish.spool_path, &spool);

	if (r == 0)
		r = spool_list(&spool, &all, &n);
	if (r < 0 && r != -ENOENT)
		fprintf(stderr, "%s: records that wait in %s are not shown: %s.\n",
			job_verb_title(options->verb), options->wish.spool_path, strerror(-r));
	for (size_t i = 0; i < n; i++)
		show_one(&all[i].head, json, first);
}

static int show(const struct job_options *options, const struct folder *folder,
	const struct folder_names *names)
{
	_cleanup_(jsonwriter_done) struct jsonwriter writer = { .out = NULL };
	struct jsonwriter *json = options->json ? &writer : NULL;
	bool first = true;

	if (json)
		jsonwriter_init(json, true);
	jsonwriter_array(&writer, NULL);
	show_spool(options, json, &first);
	show_folder(folder, names, json, &first);
	jsonwriter_close(&writer);
	return json ? jsonwriter_print(json, stdout) : 0;
}

/* Without a folder, no job has begun since the boot. */
int job_list(const struct job_options *options)
{
	_cleanup_(folder_close) struct folder folder;
	_cleanup_(folder_names_done) struct folder_names names = { .n = 0 };
	int r = folder_look(options->wish.folder_path, &folder);

	if (r == 0)
		r = folder_list(&folder, FOLDER_ID, &names);
	else if (r == -ENOENT)
		r = 0;
	if (r == 0)
		r = show(options, &folder, &names);
	return r < 0 ? job_fail(job_verb_title(options->verb), &options->wish, r) : 0;
}
