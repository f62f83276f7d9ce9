/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "client/command/job/job.h"
#include "client/command/job/record/view.h"
#include "client/command/job/waiting.h"
#include "common/clock.h"
#include "common/macro.h"

enum { IS_OPEN_ALREADY = 1 };

/* --- the run before --- */

static int end_incomplete(struct folder *folder, struct run *run)
{
	_cleanup_free_ char *text = NULL;
	int r = job_json_incomplete(
		run, "The job was begun again before it was ended.", NULL, &text);

	if (r == 0)
		r = run_end(run, text);
	if (r == 0)
		counts_note(&folder->counts, COUNTS_CLOSE, &run->head.packages);
	return r;
}

/* The next end of the job writes its record. */
static int put_aside(struct folder *folder, const char *id, struct run *run)
{
	const bool was_ended = run->fd >= 0 && !run_is_open(run);
	int r = 0;

	if (run->fd < 0) {
		counts_note(&folder->counts, COUNTS_CLOSE, &(struct packages){ .n = 0 });
		r = job_make_ended(folder, &(struct job_wish){ .id = id },
			"Another release of uncore began this job, and it was begun again before "
			"it was ended.",
			run);
	} else if (run_is_open(run)) {
		r = end_incomplete(folder, run);
	}
	if (r < 0)
		return r;
	folder->counts.n_ended += !was_ended;
	return folder_put_aside(folder, id, run);
}

/* --- the new run --- */

static int put_in_place(struct folder *folder, const struct job_wish *wish,
	const struct run_head *head, struct run *ret)
{
	_cleanup_(run_close) struct run run = { .fd = -1 };
	int r = run_create(folder->fd, FOLDER_NEW, head, &run);

	if (r == 0 && renameat(folder->fd, FOLDER_NEW, folder->fd, wish->id) < 0)
		r = -errno;
	if (r < 0)
		return r;
	counts_note(&folder->counts, COUNTS_OPEN, &wish->packages);
	folder->counts.n_runs++;
	*ret = run_take(&run);
	return folder_end_change(folder);
}

static int announce(
	struct folder *folder, const struct job_wish *wish, struct run_head *head, struct run *ret)
{
	_cleanup_(run_close) struct run before = { .fd = -1 };
	int found = run_open(folder->fd, wish->id, O_RDWR, &before), r;

	if (found < 0 && found != -ENOENT && found != -EBADMSG)
		return found;
	if (found == 0 && run_is_open(&before)) {
		if (wish->key && strcmp(before.head.key, wish->key) == 0)
			return IS_OPEN_ALREADY;
		r = run_lock(&before);
		if (r < 0)
			return r;
	}
	if (folder->counts.n_runs >= FOLDER_RUNS_MAX)
		return -EDQUOT;
	counts_note(&folder->counts, COUNTS_BEGIN, &wish->packages);
	r = folder_begin_change(folder);
	if (r == 0 && found != -ENOENT)
		r = put_aside(folder, wish->id, &before);
	counts_base(&folder->counts, &head->base);
	return r < 0 ? r : put_in_place(folder, wish, head, ret);
}

static int begin_in(
	struct folder *folder, const struct job_wish *wish, struct run_head *head, struct run *ret)
{
	const uint64_t deadline_ns = head->begun_ns + JOB_PATIENCE_NS;
	int r;

	do {
		r = folder_lock(folder, deadline_ns);
		if (r < 0)
			return r;
		r = announce(folder, wish, head, ret);
		folder_unlock(folder);
	} while (job_may_retry(r, deadline_ns));
	return r;
}

/* --- the reading --- */

static int fail(struct run *run, const char *why)
{
	run->head.state = RUN_FAILED;
	run->head.n_sockets = 0;
	snprintf(run->head.why, sizeof run->head.why, "%s", why);
	return run_keep_head(run);
}

static int keep_reading(struct run *run, const struct job_reading *reading)
{
	struct run_head *head = &run->head;
	char why[RUN_WHY_MAX];
	int r;

	if (!reading->reader.handle)
		return fail(run, reading->why);
	head->state = RUN_BEGUN;
	head->n_sockets = reading->reader.machine.n_sockets;
	snprintf(head->platform, sizeof head->platform, "%.*s", UNCORE_NAME_MAX - 1,
		reading->reader.machine.platform);
	memcpy(head->generation, reading->reader.machine.generation, sizeof head->generation);
	head->daemon_started_ns = reading->daemon.started_ns;
	head->quantum = reading->daemon.quantum;
	r = head->n_sockets <= PACKAGES_MAX ? run_keep_reading(run, reading->readout.samples)
					    : -E2BIG;
	if (r == 0)
		return 0;
	snprintf(why, sizeof why, "The reading of the begin could not be kept: %s.", strerror(-r));
	return fail(run, why);
}

/* True in *@ret_reached: uncored has answered. */
static int take_reading(
	struct run *run, const struct job_wish *wish, struct job_said *said, bool *ret_reached)
{
	const uint64_t deadline_ns = run->head.begun_ns + JOB_PATIENCE_NS;
	_cleanup_(job_reading_done) struct job_reading reading;
	int r;

	job_reading_take(wish->socket_path, READER_GAUGE, deadline_ns, &reading);
	r = keep_reading(run, &reading);
	if (run->head.state == RUN_FAILED)
		snprintf(said->remark, sizeof said->remark, "%.*s", RUN_WHY_MAX - 1, run->head.why);
	*ret_reached = reading.is_reached;
	return r;
}

static int begin(const struct job_wish *wish, struct folder *folder, struct job_said *said)
{
	struct run_head head = {
		.state = RUN_BEGINNING,
		.uid = wish->uid,
		.begun_real_ns = (int64_t)clock_wall_ns(),
		.begun_ns = clock_now_ns(),
		.packages = wish->packages,
	};
	bool is_reached = false;
	_cleanup_(run_close) struct run run = { .fd = -1 };
	int r;

	strcpy(head.id, wish->id);
	strcpy(head.key, wish->key ? wish->key : "");
	r = begin_in(folder, wish, &head, &run);
	if (r == IS_OPEN_ALREADY) {
		snprintf(said->remark, sizeof said->remark,
			"Job %s is open already, with this run: its first begin counts.", wish->id);
		is_reached = true;
	} else if (r == 0) {
		r = take_reading(&run, wish, said, &is_reached);
	}
	run_close(&run); /* so that an end need not wait for what follows */
	if (r < 0)
		return r;
	if (is_reached)
		job_owner_follow(folder, wish->socket_path, said);
	return 0;
}

int job_begin(const struct job_wish *wish, struct job_said *ret_said)
{
	_cleanup_(folder_close) struct folder folder;
	_cleanup_(waiting_done) struct waiting waiting;
	int r = folder_open(wish->folder_path, &folder);

	*ret_said = (struct job_said){ .error = "" };
	if (r == 0)
		r = begin(wish, &folder, ret_said);
	if (r < 0)
		job_say_folder(wish, r, ret_said);
	waiting_init(&waiting, wish->spool_path);
	if (folder.counts.n_ended)
		waiting_try_folder(&waiting, &folder);
	waiting_try_spool(&waiting, wish->id);
	return r;
}
