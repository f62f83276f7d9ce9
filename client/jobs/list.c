/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/jobs/list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/jobs/job-time.h"
#include "client/jsonwriter.h"
#include "client/uncore/command.h"
#include "common/clock.h"
#include "common/macro.h"

/* NULL: it has a reading. */
static const char *why_without(const struct run_head *head)
{
	switch (head->state) {
	case RUN_BEGINNING:
		return "It has no reading of its begin (yet).";
	case RUN_FAILED:
		return head->why;
	case RUN_ENDED:
		return "It has ended, and its record waits for another `uncore job end`.";
	default:
		return NULL;
	}
}

static double seconds_since(uint64_t begun_ns)
{
	return (double)(clock_now_ns() - begun_ns) / 1e9;
}

static void print_row(const struct run_head *head, bool first)
{
	const char *why = why_without(head);
	char begun[JOB_TIME_MAX];

	if (first)
		printf(" %-16s %10s  %-24s %14s\n", "job", "user", "begun", "open for");
	job_time(head->begun_real_ns, begun);
	printf(" %-16s %10u  %-24s %12.0f s  %s%s%s%s\n", head->id, head->uid, *begun ? begun : "-",
		seconds_since(head->begun_ns), *head->key ? "run " : "", head->key,
		*head->key && why ? ", " : "", why ? why : "");
}

static void write_json(struct jsonwriter *json, const struct run_head *head)
{
	char begun[JOB_TIME_MAX];

	job_time(head->begun_real_ns, begun);
	jsonwriter_object(json, NULL);
	jsonwriter_text(json, "job", head->id);
	jsonwriter_text_or_null(json, "run", head->key);
	jsonwriter_number(json, "uid", head->uid);
	jsonwriter_text_or_null(json, "begin", begun);
	jsonwriter_real(json, "seconds", seconds_since(head->begun_ns));
	jsonwriter_flag(json, "open", head->state != RUN_ENDED);
	if (why_without(head))
		jsonwriter_text(json, "why", why_without(head));
	jsonwriter_close(json);
}

static void show_each(
	const struct folder *folder, const struct folder_names *names, struct jsonwriter *json)
{
	bool first = true;

	for (size_t i = 0; i < names->n; i++) {
		struct run run = { .fd = -1 };
		int r = run_look(folder->fd, names->names[i], &run);

		if (r == 0 && json)
			write_json(json, &run.head);
		else if (r == 0)
			print_row(&run.head, first);
		first &= r < 0;
		run_close(&run);
	}
}

static int show(const struct job_options *options, const struct folder *folder,
	const struct folder_names *names)
{
	_cleanup_(jsonwriter_done) struct jsonwriter json = { .out = NULL };
	_cleanup_free_ char *text = NULL;
	int r;

	if (!options->json) {
		show_each(folder, names, NULL);
		return 0;
	}
	jsonwriter_init(&json, true);
	jsonwriter_array(&json, NULL);
	show_each(folder, names, &json);
	jsonwriter_close(&json);
	r = jsonwriter_finish(&json, &text);
	if (r == 0)
		printf("%s\n", text);
	return r;
}

/* Where there is no folder, no job has begun since the boot. */
int job_list(const struct job_options *options)
{
	_cleanup_(folder_close) struct folder folder;
	_cleanup_(folder_names_done) struct folder_names names = { .n = 0 };
	struct job_said said = { .error = "" };
	int r = folder_look(options->wish.folder_path, &folder);

	if (r == 0)
		r = folder_list(&folder, NULL, &names);
	else if (r == -ENOENT)
		r = 0;
	if (r == 0)
		r = show(options, &folder, &names);
	if (r == 0)
		return 0;
	job_say_folder(&options->wish, r, &said);
	fprintf(stderr, "%s: %s\n", job_verb_title(options->verb), said.error);
	return EXIT_FAILED;
}
