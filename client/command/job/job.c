/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/job.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "client/command/frame/command.h"
#include "client/command/job/record/view.h"
#include "common/clock.h"
#include "common/macro.h"

static const struct timespec LOOK_AGAIN = { .tv_nsec = 5000000 };

bool job_may_retry(int error, uint64_t deadline_ns)
{
	if (error != -EWOULDBLOCK || clock_now_ns() > deadline_ns)
		return false;
	nanosleep(&LOOK_AGAIN, NULL);
	return true;
}

int job_say_folder(const struct job_wish *wish, int error, struct job_said *said)
{
	const char *path = wish->folder_path;

	switch (error) {
	case -ETIMEDOUT:
		snprintf(said->error, sizeof said->error,
			"Another `uncore job` has held %s for too long, and may hang: `fuser %s` "
			"names it.",
			path, path);
		break;
	case -EWOULDBLOCK:
		snprintf(said->error, sizeof said->error,
			"Another `uncore job` is at work on this job, and may hang: `fuser "
			"%s/%s` names it.",
			path, wish->id);
		break;
	case -EDQUOT:
		snprintf(said->error, sizeof said->error,
			"There are %d open jobs already: `uncore job list` shows them, and `uncore "
			"job end` ends them.",
			FOLDER_RUNS_MAX);
		break;
	default:
		snprintf(said->error, sizeof said->error, "Cannot keep jobs in %s: %s.%s", path,
			strerror(-error),
			error == -EACCES || error == -EPERM ? " Only root begins and ends jobs."
							    : "");
	}
	return error;
}

int job_fail(const char *title, const struct job_wish *wish, int error)
{
	struct job_said said = { .error = "" };

	job_say_folder(wish, error, &said);
	fprintf(stderr, "%s: %s\n", title, said.error);
	return EXIT_FAILED;
}

int job_unbegun(const struct job_wish *wish, const char *why, struct run_head *ret, char **ret_text)
{
	const struct job_end end = {
		.real_ns = (int64_t)clock_wall_ns(),
		.ns = clock_now_ns(),
		.exit = wish->exit,
	};
	struct run run = { .fd = -1 };
	int r;

	run.head.state = RUN_ENDED;
	run.head.uid = UNCORE_UNKNOWN_USER;
	run.head.begun_real_ns = end.real_ns;
	strcpy(run.head.id, wish->id);
	strcpy(run.head.key, wish->key ? wish->key : "");
	strcpy(run.head.to, wish->to ? wish->to : "");
	r = job_json_incomplete(&run, why, &end, ret_text);
	if (r < 0)
		return r;
	run.head.text_bytes = (uint32_t)strlen(*ret_text);
	*ret = run.head;
	return 0;
}

int job_make_ended(
	struct folder *folder, const struct job_wish *wish, const char *why, struct run *ret)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_(run_close) struct run run = { .fd = -1 };
	struct run_head head;
	int r = job_unbegun(wish, why, &head, &text);

	if (r == 0)
		r = run_create(folder->fd, FOLDER_NEW, &head, &run);
	if (r == 0)
		r = run_end(&run, text);
	if (r == 0 && renameat(folder->fd, FOLDER_NEW, folder->fd, wish->id) < 0)
		r = -errno;
	if (r < 0)
		return r;
	*ret = run_take(&run);
	return 0;
}
