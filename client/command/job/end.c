/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/job/job.h"
#include "client/command/job/record/view.h"
#include "client/command/job/waiting.h"
#include "client/report/json.h"
#include "common/clock.h"
#include "common/macro.h"

enum { IS_ANOTHER_RUN = 1 };

/* Longer than a begin of the same job may wait for uncored. */
static const uint64_t PATIENCE_NS = JOB_PATIENCE_NS + JOB_PATIENCE_NS / 2;

enum { ALL_KINDS = RUN_IS_OPEN | RUN_IS_ENDED | RUN_IS_WRITTEN };

/* --- what the record is --- */

struct ending {
	const struct job_wish *wish;
	int folder_fd;
	struct folder_runs runs; /* those of the folder, before this run ends */
	struct waiting *waiting;
	struct job_end end;
	struct job_reading reading;
	struct job_said *said;
};

static int end_run(const struct ending *ending, struct run *run)
{
	const struct job_view view = { run, &ending->runs, &ending->reading, ending->end };
	_cleanup_(record_done) struct record record;
	int r = job_record(&view, &record);

	if (r == 0)
		r = record_json(&record, &run->text);
	if (record.failure)
		snprintf(ending->said->remark, sizeof ending->said->remark, "%.*s", RUN_WHY_MAX - 1,
			record.failure);
	if (r < 0)
		return r;
	strcpy(run->head.to, ending->wish->to ? ending->wish->to : "");
	run->head.state = RUN_ENDED;
	run->head.ended_ns = ending->end.ns;
	free(take_ptr(run->samples));
	r = run_write(ending->folder_fd, run, RUN_IS_ENDED);
	/* Without room, the record is in memory, and the run stays open until it is written. */
	return r == -ENOSPC ? 0 : r;
}

/* Makes a run that was never begun here and has ended, and its record, which says @why: in memory
 * alone, for run_done(). -ENOMEM. */
static int make_unbegun(const struct ending *ending, const char *why, struct run *ret)
{
	const struct job_wish *wish = ending->wish;

	*ret = (struct run){
		.fd = -1,
		.kind = RUN_IS_OPEN,
		.head = { .state = RUN_ENDED,
			.uid = UNCORE_UNKNOWN_USER,
			.begun_real_ns = ending->end.real_ns,
			.ended_ns = ending->end.ns },
	};
	strcpy(ret->head.id, wish->id);
	strcpy(ret->head.key, wish->key ? wish->key : "");
	strcpy(ret->head.to, wish->to ? wish->to : "");
	run_set_base(ret);
	return job_record_without(ret, why, &ending->end, &ret->text);
}

/* @before: of another release, or NULL. */
static int end_without_begin(
	const struct ending *ending, const struct run *before, const char *why, struct run *ret)
{
	char no_room[RUN_WHY_MAX];
	int r = make_unbegun(ending, why, ret);

	if (before) { /* others have met it */
		strcpy(ret->base, before->base);
		ret->head.begun_ns = before->head.begun_ns;
	}
	if (r == 0)
		r = run_write(ending->folder_fd, ret, RUN_IS_ENDED);
	snprintf(ending->said->remark, sizeof ending->said->remark, "%s", r == 0 ? why : "");
	if (r != -ENOSPC)
		return r;
	snprintf(no_room, sizeof no_room,
		"%.400s has no room for the job, so there is no reading of its begin.",
		ending->wish->folder_path);
	run_done(ret);
	strcpy(ending->said->error, no_room);
	return make_unbegun(ending, no_room, ret);
}

/* Without a key, the run may be any run. */
static bool is_another(const struct job_wish *wish, const struct run *run)
{
	return wish->key && *run->head.key && strcmp(wish->key, run->head.key) != 0;
}

/* Opens the run of @listed, and locks it. */
static int end_take(const struct ending *ending, const struct run *listed, struct run *ret)
{
	int r = run_open(ending->folder_fd, listed, ret);

	return r < 0 ? r : run_lock(ret);
}

/* The last run was written. This end may repeat one that was killed, so it is not written any more.
 */
static int take_written(const struct ending *ending, const struct run *listed, struct run *ret)
{
	char written[RUN_NAME_MAX], ended[RUN_NAME_MAX];
	int r = end_take(ending, listed, ret);

	run_name(listed, RUN_IS_WRITTEN, written);
	run_name(listed, RUN_IS_ENDED, ended);
	if (r == 0 && renameat(ending->folder_fd, written, ending->folder_fd, ended) < 0)
		r = -errno;
	ret->kind = RUN_IS_ENDED;
	return r;
}

/* 0: the run has ended, and is locked. IS_ANOTHER_RUN: the open run is another, and stays open. */
static int decide(const struct ending *ending, struct run *ret)
{
	const struct run *run = folder_last(
				 &ending->runs, ending->wish->id, RUN_IS_OPEN | RUN_IS_ENDED),
			 *written = folder_last(&ending->runs, ending->wish->id, RUN_IS_WRITTEN);
	int r;

	if (run && run->kind == RUN_IS_OPEN && run->head.state == RUN_FOREIGN)
		return end_without_begin(
			ending, run, "Another release of uncore began this job.", ret);
	if (run && run->kind == RUN_IS_OPEN) {
		if (is_another(ending->wish, run))
			return IS_ANOTHER_RUN;
		r = end_take(ending, run, ret);
		return r < 0 ? r : end_run(ending, ret);
	}
	if (run && run->head.state == RUN_ENDED)
		return end_take(ending, run, ret);
	if (!run && written && written->text && !is_another(ending->wish, written))
		return take_written(ending, written, ret);
	return end_without_begin(ending, NULL,
		"There is no begin of this job on this host: `uncore job begin` failed or was "
		"killed, or the host was booted since.",
		ret);
}

static int decide_in(struct ending *ending, struct run *ret)
{
	const uint64_t deadline_ns = clock_deadline_ns(PATIENCE_NS);
	int r;

	do {
		run_done(ret);
		folder_runs_done(&ending->runs);
		r = folder_lock(ending->folder_fd, deadline_ns);
		if (r < 0)
			return r;
		r = folder_read(ending->folder_fd, ALL_KINDS, NULL, &ending->runs);
		if (r == 0) {
			folder_prune(ending->folder_fd, &ending->runs);
			r = decide(ending, ret);
		}
		folder_unlock(ending->folder_fd);
	} while (job_may_retry(r, deadline_ns));
	return r;
}

/* --- writing it --- */

static void say_refused(const struct ending *ending, const struct run *run, int kept)
{
	static const char again[] = "Each `uncore job begin` and `uncore job end` tries again.";
	const char *open_jobs = ending->wish->folder_path, *spool = ending->wish->spool_path;
	char where[352];

	if (kept == 0)
		snprintf(where, sizeof where, "It waits in %.200s. %s", spool, again);
	else if (run->kind == RUN_IS_OPEN)
		snprintf(where, sizeof where, "%.60s has no room for it either: end the job again.",
			open_jobs);
	else
		snprintf(where, sizeof where,
			"It waits in %.60s until the next boot (%.60s: %s). %s", open_jobs,
			spool ? spool : "no folder", strerror(-kept), again);
	snprintf(ending->said->error, sizeof ending->said->error,
		"The record of the job cannot be written into %.200s: %.384s. %s", run->head.to,
		ending->said->file, where);
}

/* True in *@ret_is_safe: the record is in its folder, or waits on the disk. */
static int end_write_file(const struct ending *ending, const struct run *run, bool *ret_is_safe)
{
	int r = 0, kept = 0;

	if (*run->head.to)
		r = waiting_write(ending->waiting, run, ending->said->file);
	if (r < 0) {
		kept = waiting_keep(ending->waiting, run);
		say_refused(ending, run, kept);
	}
	*ret_is_safe = kept == 0;
	return r;
}

static int end_print_record(const struct ending *ending, const char *text)
{
	int r;

	printf("%s\n", text);
	if (fflush(stdout) != EOF)
		return 0;
	r = errno ? -errno : -EIO;
	if (!*ending->said->error)
		snprintf(ending->said->error, sizeof ending->said->error,
			"The record of the job cannot be printed: %s. The next `uncore job end` of "
			"it tries again.",
			strerror(-r));
	return r;
}

/* The folder of this end applies, even if another end has ended the run. */
static int send_to(const struct ending *ending, struct run *run)
{
	const char *to = ending->wish->to;
	int r;

	if (!to || strcmp(run->head.to, to) == 0)
		return 0;
	strcpy(run->head.to, to);
	if (run->kind == RUN_IS_OPEN) /* only in memory */
		return 0;
	r = folder_write(ending->folder_fd, run, run->kind, clock_deadline_ns(JOB_PATIENCE_NS));
	return r == -ENOSPC ? 0 : r;
}

/* A record that is not noted as written is written again by the next end, with the same content. */
static int write_and_note(const struct ending *ending, struct run *run)
{
	bool is_safe = false;
	int r = 0, printed;

	if (!run->text)
		r = job_record_without(
			run, run->head.why, &(struct job_end){ .exit = NULL }, &run->text);
	if (r == 0)
		r = send_to(ending, run);
	if (r < 0)
		return job_say_folder(ending->wish, r, ending->said);
	r = end_write_file(ending, run, &is_safe);
	printed = end_print_record(ending, run->text);
	if (r == 0)
		r = printed;
	if (is_safe && printed == 0) {
		int noted = waiting_note(ending->waiting, run);

		if (noted < 0)
			job_say_folder(ending->wish, noted, ending->said);
		return r < 0 ? r : noted;
	}
	return r;
}

/* A record that cannot be written does not keep back the others. One that another end has written,
 * or is about to, is left to it. */
static int write_before(const struct ending *ending, const struct run *own)
{
	int r = 0;

	for (size_t i = 0; i < ending->runs.n; i++) {
		const struct run *listed = &ending->runs.all[i];
		_cleanup_(run_done) struct run run = { .fd = -1 };

		if (listed->kind == RUN_IS_ENDED &&
			strcmp(listed->head.id, ending->wish->id) == 0 &&
			strcmp(listed->base, own->base) != 0 &&
			end_take(ending, listed, &run) == 0) {
			int written = write_and_note(ending, &run);

			r = r < 0 ? r : written;
		}
	}
	return r;
}

/* --- all steps --- */

/* @decided: what decide_in() returned. */
static int write_own(const struct ending *ending, struct run *run, int decided)
{
	if (decided != IS_ANOTHER_RUN)
		return write_and_note(ending, run);
	snprintf(ending->said->remark, sizeof ending->said->remark,
		"Job %s is open with another run, which stays open.", ending->wish->id);
	return 0;
}

static int end_write_all(const struct ending *ending, struct run *run, int decided)
{
	int before, own;

	waiting_try(ending->waiting, ending->wish->id, ending->runs.n_ended);
	if (decided < 0)
		return job_say_folder(ending->wish, decided, ending->said);
	before = write_before(ending, run);
	own = write_own(ending, run, decided);
	return before < 0 ? before : own;
}

static int decide_by_reading(struct ending *ending, struct run *ret)
{
	int r;

	job_reading_take(ending->wish->socket_path, READER_DIFFERENCE,
		ending->end.ns + JOB_PATIENCE_NS, &ending->reading);
	r = decide_in(ending, ret);
	if (r >= 0 && ending->reading.is_reached)
		job_owner_follow(ending->folder_fd, ending->wish->socket_path, ending->said);
	job_reading_done(&ending->reading);
	return r;
}

int job_end(const struct job_wish *wish, struct job_said *ret_said)
{
	_cleanup_(waiting_done) struct waiting waiting;
	_cleanup_close_ int folder_fd = folder_open(wish->folder_path);
	struct ending ending = {
		.wish = wish,
		.folder_fd = folder_fd,
		.waiting = &waiting,
		.end = { .real_ns = (int64_t)clock_wall_ns(),
			.ns = clock_now_ns(),
			.exit = wish->exit },
		.said = ret_said,
	};
	_cleanup_(run_done) struct run run = { .fd = -1 };
	int r = folder_fd < 0 ? folder_fd : 0;

	*ret_said = (struct job_said){ .error = "" };
	if (r == 0)
		r = decide_by_reading(&ending, &run);
	waiting_init(&waiting, folder_fd, wish->spool_path);
	r = end_write_all(&ending, &run, r);
	folder_runs_done(&ending.runs);
	return r;
}
