/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/job/job.h"
#include "client/command/job/record/view.h"
#include "client/command/job/waiting.h"
#include "common/clock.h"
#include "common/macro.h"

enum { IS_OPEN_ALREADY = 1 };

/* --- the run before --- */

/* Gives the run up, unless a begin of it is at work. The next end of the job makes its record. */
static int cut(int folder_fd, const struct run *listed, uint64_t now_ns)
{
	_cleanup_(run_done) struct run run = { .fd = -1 };
	int r = run_open(folder_fd, listed, &run);

	if (r == -EBADMSG) {
		run = *listed;
		snprintf(run.head.why, sizeof run.head.why,
			"Another release of uncore began this job, and it was begun again before "
			"it was ended.");
	} else {
		r = r < 0 ? r : run_lock(&run);
		if (r < 0)
			return r;
		snprintf(run.head.why, sizeof run.head.why,
			"The job was begun again before it was ended.");
	}
	run.head.state = RUN_CUT;
	run.head.ended_ns = now_ns;
	return run_close_open(folder_fd, &run, RUN_IS_ENDED);
}

/* --- the new run --- */

static int announce(int folder_fd, const char *key, struct run *run, bool *ret_waits)
{
	_cleanup_(folder_runs_done) struct folder_runs before;
	int r = folder_read(folder_fd, RUN_IS_OPEN, run->head.id, &before);

	*ret_waits = before.n_ended;
	for (size_t i = 0; key && i < before.n; i++)
		if (strcmp(before.all[i].head.key, key) == 0)
			return IS_OPEN_ALREADY;
	if (r == 0 && before.n_open + before.n_ended >= FOLDER_RUNS_MAX)
		r = -EDQUOT;
	for (size_t i = 0; r == 0 && i < before.n; i++)
		r = cut(folder_fd, &before.all[i], run->head.begun_ns);
	return r < 0 ? r : run_write(folder_fd, run, RUN_IS_OPEN);
}

static int begin_in(int folder_fd, const char *key, struct run *run, bool *ret_waits)
{
	const uint64_t deadline_ns = run->head.begun_ns + JOB_PATIENCE_NS;
	int r;

	do {
		r = folder_lock(folder_fd, deadline_ns);
		if (r < 0)
			return r;
		r = announce(folder_fd, key, run, ret_waits);
		folder_unlock(folder_fd);
	} while (job_may_retry(r, deadline_ns));
	return r;
}

/* --- the reading --- */

static void begin_fail(struct run *run, const char *why)
{
	run->head.state = RUN_FAILED;
	snprintf(run->head.why, sizeof run->head.why, "%s", why);
}

static void take_samples(struct run *run, const struct job_reading *reading)
{
	struct run_head *head = &run->head;
	const uint32_t n = reading->reader.machine.n_sockets;

	run->samples = n <= PACKAGES_MAX ? calloc(n + 1, sizeof *run->samples) : NULL;
	if (!run->samples) {
		begin_fail(run, "There was no room for the reading of the begin.");
		return;
	}
	memcpy(run->samples, reading->readout.samples, n * sizeof *run->samples);
	head->state = RUN_BEGUN;
	head->n_sockets = n;
	snprintf(head->platform, sizeof head->platform, "%.*s", UNCORE_NAME_MAX - 1,
		reading->reader.machine.platform);
	memcpy(head->generation, reading->reader.machine.generation, sizeof head->generation);
	head->quantum = reading->daemon.quantum;
}

/* True in *@ret_reached: uncored has answered. */
static int begin_take_reading(int folder_fd, struct run *run, const struct job_wish *wish,
	struct job_said *said, bool *ret_reached)
{
	_cleanup_(job_reading_done) struct job_reading reading;

	job_reading_take(
		wish->socket_path, READER_GAUGE, run->head.begun_ns + JOB_PATIENCE_NS, &reading);
	*ret_reached = reading.is_reached;
	if (reading.reader.handle)
		take_samples(run, &reading);
	else
		begin_fail(run, reading.why);
	if (run->head.state == RUN_FAILED)
		snprintf(said->remark, sizeof said->remark, "%.*s", RUN_WHY_MAX - 1, run->head.why);
	return folder_write(folder_fd, run, RUN_IS_OPEN, clock_deadline_ns(JOB_PATIENCE_NS));
}

/* True in *@ret_waits: there may be records that were not written. */
static int begin_run_in(
	const struct job_wish *wish, int folder_fd, struct job_said *said, bool *ret_waits)
{
	_cleanup_(run_done) struct run run = {
		.fd = -1,
		.head = { .state = RUN_BEGINNING,
			.uid = wish->uid,
			.begun_real_ns = (int64_t)clock_wall_ns(),
			.begun_ns = clock_now_ns(),
			.packages = wish->packages },
	};
	bool is_reached = false;
	int r;

	strcpy(run.head.id, wish->id);
	strcpy(run.head.key, wish->key ? wish->key : "");
	run_set_base(&run);
	r = begin_in(folder_fd, wish->key, &run, ret_waits);
	if (r == IS_OPEN_ALREADY) {
		snprintf(said->remark, sizeof said->remark,
			"Job %s is open already, with this run: its first begin counts.", wish->id);
		is_reached = true;
	} else if (r == 0) {
		r = begin_take_reading(folder_fd, &run, wish, said, &is_reached);
	}
	close_fd(&run.fd); /* so that an end need not wait for what follows */
	if (r < 0)
		return r;
	if (is_reached)
		job_owner_follow(folder_fd, wish->socket_path, said);
	return 0;
}

int job_begin(const struct job_wish *wish, struct job_said *ret_said)
{
	_cleanup_close_ int folder_fd = folder_open(wish->folder_path);
	_cleanup_(waiting_done) struct waiting waiting;
	bool waits = false;
	int r = folder_fd < 0 ? folder_fd : 0;

	*ret_said = (struct job_said){ .error = "" };
	if (r == 0)
		r = begin_run_in(wish, folder_fd, ret_said, &waits);
	if (r < 0)
		job_say_folder(wish, r, ret_said);
	waiting_init(&waiting, folder_fd, wish->spool_path);
	waiting_try(&waiting, wish->id, waits);
	return r;
}
