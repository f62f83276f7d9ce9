/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/job.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "client/command/frame/command.h"
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
			"%s/%s@*` names it.",
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
