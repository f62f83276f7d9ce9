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

static void job_show_print_socket(const struct job_view *view, uint32_t i)
{
	struct uncore_socket socket;
	struct format_socket shown;
	const int64_t others = job_view_socket(view, i, &socket, &shown);

	if (!packages_have(&view->run->head.packages, socket.package))
		snprintf(shown.note, sizeof shown.note, "The job has no CPU here.");
	else if (others)
		snprintf(shown.note, sizeof shown.note,
			others < 0 ? "Nothing is known of other jobs here."
				   : "Other jobs that were open here meanwhile: %" PRId64 ".",
			others);
	format_rows(stdout, &shown, NULL);
}

static void job_show_print_age(uint64_t age_ns)
{
	if (age_ns)
		printf(" The counters were last read %.3g s ago: the site holds readings back "
		       "(min_interval_ms of uncored.conf).\n",
			(double)age_ns / 1e9);
}

static int job_show_print_view(const struct job_view *view)
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
		job_show_print_socket(view, i);
	job_show_print_age(view->reading->readout.age_ns);
	format_caveats(stdout, head->platform, "this job");
	return 0;
}

static int job_show_print_json(const struct job_view *view)
{
	_cleanup_free_ char *text = NULL;

	if (job_json(view, &text) < 0) {
		fprintf(stderr, "uncore job show: no memory for the record.\n");
		return EXIT_FAILED;
	}
	printf("%s\n", text);
	return 0;
}

/* Of all runs of the folder, so that @id can be told of the others. */
static int job_show_find_run(
	int folder_fd, const char *id, struct folder_runs *ret_runs, const struct run **ret)
{
	int r = folder_fd < 0 ? folder_fd
			      : folder_lock(folder_fd, clock_deadline_ns(JOB_PATIENCE_NS));

	if (r < 0)
		return r;
	r = folder_read(folder_fd, RUN_IS_OPEN | RUN_IS_ENDED | RUN_IS_WRITTEN, NULL, ret_runs);
	folder_unlock(folder_fd);
	*ret = folder_last(ret_runs, id, RUN_IS_OPEN);
	if (r == 0 && *ret && (*ret)->head.state == RUN_FOREIGN)
		return -EBADMSG;
	return r < 0 || *ret ? r : -ENOENT;
}

/* The others are those of after the reading, so that they cover all of it. */
static int job_show_run(const struct job_options *options, int folder_fd,
	const struct job_reading *reading, uint64_t now_ns)
{
	_cleanup_(folder_runs_done) struct folder_runs runs = { .n = 0 };
	_cleanup_(job_view_done) struct job_view view = { .run = NULL };
	const struct run *run;
	int r = job_show_find_run(folder_fd, options->wish.id, &runs, &run);

	if (r == -ENOENT) {
		fprintf(stderr, "uncore job show: job %s is not open on this host.\n",
			options->wish.id);
		return EXIT_FAILED;
	}
	if (r < 0)
		return job_fail("uncore job show", &options->wish, r);
	job_view_init(&view, run, reading, &runs);
	view.end.ns = now_ns;
	return options->json ? job_show_print_json(&view) : job_show_print_view(&view);
}

int job_show(const struct job_options *options)
{
	const uint64_t now_ns = clock_now_ns();
	_cleanup_close_ int folder_fd = folder_look(options->wish.folder_path);
	_cleanup_(job_reading_done) struct job_reading reading = { .is_reached = false };

	if (folder_fd >= 0)
		job_reading_take(options->wish.socket_path, READER_GAUGE, now_ns + JOB_PATIENCE_NS,
			&reading);
	return job_show_run(options, folder_fd, &reading, now_ns);
}
