/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/frame/command.h"
#include "client/command/job/record/view.h"
#include "client/records/join.h"
#include "client/report/json.h"
#include "common/clock.h"
#include "common/macro.h"

static void job_show_print_age(uint64_t age_ns)
{
	if (age_ns)
		printf(" The counters were last read %.3g s ago: the site holds readings back "
		       "(min_interval_ms of uncored.conf).\n",
			(double)age_ns / 1e9);
}

/* As the report of the record, if the job ended now. Takes it. */
static int job_show_print_table(struct record *record)
{
	_cleanup_(record_list_done) struct record_list list = { .n = 0 };
	_cleanup_(join_done) struct join join = { .n_records = 0 };
	_cleanup_free_ char *notes = NULL;
	size_t size_bytes;
	FILE *out = open_memstream(&notes, &size_bytes);
	int r = out ? record_list_add(&list, record) : -ENOMEM;

	if (r == 0) {
		list.records[0].ended_ns = (int64_t)clock_wall_ns();
		r = join_records(&list, true, &join);
	}
	if (r == 0)
		notes_write(&join, out);
	if (out && fclose(out) == EOF)
		r = -ENOMEM;
	return r < 0 ? r : join_print(stdout, &join, notes, true);
}

static int job_show_print_json(const struct record *record)
{
	_cleanup_free_ char *text = NULL;
	int r = record_json(record, &text);

	if (r == 0)
		printf("%s\n", text);
	return r;
}

static int job_show_print(const struct job_view *view, bool is_json)
{
	_cleanup_(record_done) struct record record;
	int r = job_record(view, &record);

	if (r == 0 && record.failure && !is_json) {
		fprintf(stderr, "uncore job show: job %s will have no complete record: %s\n",
			record.job, record.failure);
		return EXIT_FAILED;
	}
	if (r == 0)
		r = is_json ? job_show_print_json(&record) : job_show_print_table(&record);
	if (r < 0) {
		fprintf(stderr, "uncore job show: cannot show the record: %s.\n", strerror(-r));
		return EXIT_FAILED;
	}
	if (!is_json)
		job_show_print_age(view->reading->readout.age_ns);
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
	const struct run *run;
	int r = job_show_find_run(folder_fd, options->wish.id, &runs, &run);

	if (r == -ENOENT) {
		fprintf(stderr, "uncore job show: job %s is not open on this host.\n",
			options->wish.id);
		return EXIT_FAILED;
	}
	if (r < 0)
		return job_fail("uncore job show", &options->wish, r);
	return job_show_print(
		&(struct job_view){ run, &runs, reading, { .ns = now_ns } }, options->json);
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
