/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/options.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/command/frame/command.h"
#include "client/command/job/record/view.h"
#include "client/report/format.h"
#include "client/report/json.h"
#include "common/clock.h"
#include "common/macro.h"

static void print_socket(const struct job_view *view, uint32_t i)
{
	struct uncore_socket socket = UNCORE_SOCKET_INIT;
	struct format_socket shown;
	int64_t others;

	uncore_describe_socket(view->reading->reader.handle, i, &socket);
	others = counts_others(view->counts, &view->run->head.base, socket.package);
	total_show(&view->total, view->reading->reader.handle, i, &shown);
	if (!packages_have(&view->run->head.packages, socket.package))
		snprintf(shown.note, sizeof shown.note, "The job has no CPU here.");
	else if (others)
		snprintf(shown.note, sizeof shown.note,
			others < 0 ? "Nothing is known of other jobs here."
				   : "Other jobs that were open here meanwhile: %" PRId64 ".",
			others);
	format_rows(stdout, &shown, NULL);
}

static void print_age(uint64_t age_ns)
{
	if (age_ns)
		printf(" The counters were last read %.3g s ago: the site holds readings back "
		       "(min_interval_ms of uncored.conf).\n",
			(double)age_ns / 1e9);
}

static int print(const struct job_view *view)
{
	const struct run_head *head = &view->run->head;
	char begun[RECORD_TIME_MAX];

	if (*view->why) {
		fprintf(stderr, "uncore job show: job %s will have no complete record: %s\n",
			head->id, view->why);
		return EXIT_FAILED;
	}
	record_time_ms(head->begun_real_ns, begun);
	printf("\n Job %s of user %" PRIu32 ", since %s, platform %s:\n\n", head->id, head->uid,
		*begun ? begun : "an unknown time", head->platform);
	for (uint32_t i = 0; i < head->n_sockets; i++)
		print_socket(view, i);
	print_age(view->reading->readout.age_ns);
	format_caveats(stdout, head->platform, "this job");
	return 0;
}

static int print_json(const struct job_view *view)
{
	_cleanup_free_ char *text = NULL;

	if (job_json(view, &text) < 0) {
		fprintf(stderr, "uncore job show: no memory for the record.\n");
		return EXIT_FAILED;
	}
	printf("%s\n", text);
	return 0;
}

/* Reads the counts of the other jobs after the reading, so that they cover all of it. */
static int find(struct folder *folder, const char *id, struct run *ret)
{
	int r = folder_lock(folder, clock_deadline_ns(JOB_PATIENCE_NS));

	if (r < 0)
		return r;
	r = run_open(folder->fd, id, O_RDONLY, ret);
	folder_unlock(folder);
	return r == 0 && !run_is_open(ret) ? -ENOENT : r;
}

static int show(const struct job_options *options, struct folder *folder,
	const struct job_reading *reading, uint64_t now_ns)
{
	_cleanup_(run_close) struct run run = { .fd = -1 };
	_cleanup_(job_view_done) struct job_view view = { .begun = NULL };
	int r = find(folder, options->wish.id, &run);

	if (r == -ENOENT) {
		fprintf(stderr, "uncore job show: job %s is not open on this host.\n",
			options->wish.id);
		return EXIT_FAILED;
	}
	if (r < 0)
		return job_fail("uncore job show", &options->wish, r);
	job_view_init(&view, &run, reading, &folder->counts);
	view.end.ns = now_ns;
	return options->json ? print_json(&view) : print(&view);
}

int job_show(const struct job_options *options)
{
	const uint64_t now_ns = clock_now_ns();
	_cleanup_(folder_close) struct folder folder;
	_cleanup_(job_reading_done) struct job_reading reading = { .is_reached = false };
	int r = folder_open(options->wish.folder_path, &folder);

	if (r < 0)
		return job_fail("uncore job show", &options->wish, r);
	job_reading_take(
		options->wish.socket_path, READER_GAUGE, now_ns + JOB_PATIENCE_NS, &reading);
	return show(options, &folder, &reading, now_ns);
}
