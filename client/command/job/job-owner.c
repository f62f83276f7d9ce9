/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/records/json.h"
#include "common/clock.h"
#include "common/macro.h"

/*
 * Held from looking at the jobs until uncored has answered: of two processes, the one that looked
 * last must also speak last. It is not the lock on the folder, since uncored may hang.
 */
static const char LOCK[] = "..owner";

/* Also false if uncored does not answer, since then it cannot be told anything either. */
static bool is_asked_for(const char *socket_path)
{
	_cleanup_(json_document_done) struct json_document info = { .text = NULL };
	char *text;

	return uncore_info(socket_path, &text) == 0 &&
	       json_flag(json_member(json_document_take(&info, text), "policy"), "owner_only");
}

/* A run that cannot be read has UNCORE_UNKNOWN_USER, which is UNCORE_NO_OWNER. */
static uint32_t job_owner_of_folder(int folder_fd)
{
	_cleanup_(folder_runs_done) struct folder_runs runs;
	uint32_t owner;

	if (folder_read(folder_fd, RUN_IS_OPEN, NULL, &runs) < 0 || !runs.n)
		return UNCORE_NO_OWNER;
	owner = runs.all[0].head.uid;
	for (size_t i = 1; i < runs.n; i++)
		if (runs.all[i].head.uid != owner)
			return UNCORE_NO_OWNER;
	return owner;
}

static int job_owner_lock(int folder_fd, int *ret_fd)
{
	_cleanup_close_ int fd =
		openat(folder_fd, LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	int r = fd < 0 ? -errno : folder_lock(fd, clock_deadline_ns(JOB_PATIENCE_NS));

	if (r == 0)
		*ret_fd = take_fd(&fd);
	return r;
}

void job_owner_follow(int folder_fd, const char *socket_path, struct job_said *said)
{
	_cleanup_close_ int fd = -1;
	int r;

	if (!is_asked_for(socket_path))
		return;
	r = job_owner_lock(folder_fd, &fd);
	if (r < 0)
		snprintf(said->remark, sizeof said->remark,
			"The owner of the node stays as it is: cannot lock the folder of jobs: %s.",
			strerror(-r));
	else if (uncore_set_owner(socket_path, job_owner_of_folder(folder_fd)) < 0)
		snprintf(said->remark, sizeof said->remark,
			"The owner of the node stays as it is: %.*s", RUN_WHY_MAX - 64,
			uncore_error_text());
}
