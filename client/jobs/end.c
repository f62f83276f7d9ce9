/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "client/jobs/job-json.h"
#include "client/jobs/job-owner.h"
#include "client/jobs/job-reading.h"
#include "client/jobs/job-time.h"
#include "client/jobs/job.h"
#include "client/jobs/record-file.h"
#include "common/clock.h"
#include "common/macro.h"

enum { IS_ANOTHER_RUN = 1 };

/* A begin of the same job may be at work for as long as it may wait for uncored. */
static const uint64_t PATIENCE_NS = JOB_PATIENCE_NS + JOB_PATIENCE_NS / 2;

/* --- what the record is --- */

struct ending {
	const struct job_wish *wish;
	struct job_end end;
	struct job_reading reading;
	struct job_said *said;
};

static int end_run(const struct ending *ending, struct folder *folder, struct run *run)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_(job_view_done) struct job_view view;
	int r;

	job_view_init(&view, run, &ending->reading, &folder->counts);
	view.end = ending->end;
	if (*view.why)
		snprintf(ending->said->remark, sizeof ending->said->remark, "%.*s", RUN_WHY_MAX - 1,
			view.why);
	r = job_json(&view, &text);
	if (r == 0)
		r = folder_begin_change(folder);
	if (r == 0)
		r = run_end(run, text);
	if (r == 0)
		counts_close(&folder->counts, &run->head.packages);
	return r < 0 ? r : folder_end_change(folder);
}

/* Was the last run of the ID written, so that this end may repeat one that was killed? */
static int find_written(const struct folder *folder, const char *id, struct run *ret)
{
	struct folder_names parked;
	int r = 0;

	if (folder->counts.n_parked) {
		r = folder_list(folder, id, &parked);
		if (r == 0 && parked.n)
			r = -ENOENT;
		folder_names_done(&parked);
	}
	return r < 0 ? r : folder_open_written(folder, id, ret);
}

static int end_without_begin(
	const struct ending *ending, struct folder *folder, const char *why, struct run *ret)
{
	int r = folder_begin_change(folder);

	if (r == 0)
		r = job_make_ended(folder, ending->wish, why, ret);
	if (r < 0)
		return r;
	snprintf(ending->said->remark, sizeof ending->said->remark, "%s", why);
	folder->counts.n_runs++;
	return folder_end_change(folder);
}

/* What has no key may be any run. */
static bool is_another(const struct job_wish *wish, const struct run *run)
{
	return wish->key && *run->head.key && strcmp(wish->key, run->head.key) != 0;
}

/* No run of the ID is open, or waits for being written. */
static int decide_without(const struct ending *ending, struct folder *folder, struct run *ret)
{
	int r = find_written(folder, ending->wish->id, ret);

	if (r == 0 && !is_another(ending->wish, ret))
		return run_lock(ret);
	if (r < 0 && r != -ENOENT && r != -EBADMSG)
		return r;
	run_close(ret);
	return end_without_begin(ending, folder,
		"There is no begin of this job on this host: it was not called, or was killed, or "
		"the host was booted since.",
		ret);
}

/* 0: the run has ended, and is locked. IS_ANOTHER_RUN: one is open that is not to end. */
static int decide(const struct ending *ending, struct folder *folder, struct run *ret)
{
	int r = run_open(folder->fd, ending->wish->id, ret);

	if (r == -EBADMSG) {
		r = end_without_begin(
			ending, folder, "Another release of uncore began this job.", ret);
		return r < 0 ? r : folder_begin_change(folder); /* counts anew */
	}
	if (r == -ENOENT)
		return decide_without(ending, folder, ret);
	if (r == 0 && run_is_open(ret) && is_another(ending->wish, ret))
		return IS_ANOTHER_RUN;
	if (r == 0)
		r = run_lock(ret);
	if (r == 0 && run_is_open(ret))
		r = end_run(ending, folder, ret);
	return r;
}

static int decide_in(const struct ending *ending, struct folder *folder, struct run *ret)
{
	const uint64_t deadline_ns = clock_deadline_ns(PATIENCE_NS);
	int r;

	do {
		run_close(ret);
		r = folder_lock(folder, deadline_ns);
		if (r < 0)
			return r;
		r = decide(ending, folder, ret);
		folder_unlock(folder);
	} while (job_may_retry(r, deadline_ns));
	return r;
}

/* --- writing it --- */

static int write_record(const struct ending *ending, const struct run *run)
{
	_cleanup_free_ char *text = NULL;
	const char *to = ending->wish->to, *failed = "The record of the job cannot be ";
	int r = run_read_text(run, &text);

	if (r == 0 && to)
		r = record_file_write(to, run, text, ending->said->file);
	if (r < 0) {
		snprintf(ending->said->error, sizeof ending->said->error,
			"%swritten into %.255s: %.600s. The next `uncore job end` of it tries "
			"again.",
			failed, to ? to : "stdout",
			*ending->said->file ? ending->said->file : strerror(-r));
		return r;
	}
	printf("%s\n", text);
	if (fflush(stdout) == EOF) {
		r = errno ? -errno : -EIO;
		snprintf(ending->said->error, sizeof ending->said->error,
			"%sprinted: %s. The next `uncore job end` of it tries again.", failed,
			strerror(-r));
	}
	return r;
}

/* What is not noted is written again by the next end, and is the same then. */
static int write_and_note(const struct ending *ending, struct folder *folder, const struct run *run)
{
	int r = write_record(ending, run);

	if (r < 0)
		return r;
	r = folder_lock(folder, clock_deadline_ns(JOB_PATIENCE_NS));
	if (r == 0) {
		r = folder_note_written(folder, run);
		folder_unlock(folder);
	}
	return r < 0 ? job_say_folder(ending->wish, r, ending->said) : 0;
}

static int write_parked(const struct ending *ending, struct folder *folder, const char *name)
{
	_cleanup_(run_close) struct run run = { .fd = -1 };
	int r = run_open(folder->fd, name, &run);

	if (r == 0)
		r = run_lock(&run);
	/* Another end has written it, or is about to; or another release made it, and is gone. */
	if (r == -ENOENT || r == -EWOULDBLOCK || r == -EBADMSG)
		return 0;
	return r < 0 ? job_say_folder(ending->wish, r, ending->said)
		     : write_and_note(ending, folder, &run);
}

static int write_all_parked(const struct ending *ending, struct folder *folder)
{
	struct folder_names names;
	int r = folder_list(folder, ending->wish->id, &names);

	if (r < 0)
		return job_say_folder(ending->wish, r, ending->said);
	for (size_t i = 0; r == 0 && i < names.n; i++)
		r = write_parked(ending, folder, names.names[i]);
	folder_names_done(&names);
	return r;
}

/* --- the whole --- */

static int end_in(const struct ending *ending, struct folder *folder)
{
	_cleanup_(run_close) struct run run = { .fd = -1 };
	int r = decide_in(ending, folder, &run), parked;

	if (r < 0)
		return job_say_folder(ending->wish, r, ending->said);
	if (ending->reading.is_reached)
		job_owner_follow(folder, ending->wish->socket_path, ending->said);
	if (r == IS_ANOTHER_RUN)
		snprintf(ending->said->remark, sizeof ending->said->remark,
			"Job %s is open with another run, which stays open.", run.head.id);
	if (folder->counts.n_parked && (parked = write_all_parked(ending, folder)) < 0)
		return parked;
	return r == IS_ANOTHER_RUN ? 0 : write_and_note(ending, folder, &run);
}

int job_end(const struct job_wish *wish, struct job_said *ret_said)
{
	struct ending ending = {
		.wish = wish,
		.end = { .real_ns = job_time_now_ns(), .ns = clock_now_ns(), .exit = wish->exit },
		.said = ret_said,
	};
	_cleanup_(folder_close) struct folder folder;
	int r = folder_open(wish->folder_path, &folder);

	*ret_said = (struct job_said){ .error = "" };
	if (r < 0)
		return job_say_folder(wish, r, ret_said);
	job_reading_take(
		&(struct job_reading_wish){
			.socket_path = wish->socket_path,
			.deadline_ns = ending.end.ns + JOB_PATIENCE_NS,
		},
		&ending.reading);
	r = end_in(&ending, &folder);
	job_reading_done(&ending.reading);
	return r;
}
