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

/* -1: the run has ended. UNCORE_NO_OWNER: it cannot be read, so it may be anybody's. */
static int64_t uid_of(const struct folder *folder, const char *name)
{
	_cleanup_(run_close) struct run run = { .fd = -1 };
	int r = run_open(folder->fd, name, O_RDONLY, &run);

	if (r == -ENOENT || (r == 0 && !run_is_open(&run)))
		return -1;
	return r < 0 ? UNCORE_NO_OWNER : run.head.uid;
}

static uint32_t owner_of(const struct folder *folder)
{
	_cleanup_(folder_names_done) struct folder_names names;
	int64_t owner = -1;

	if (folder_list(folder, FOLDER_ID, &names) < 0)
		return UNCORE_NO_OWNER;
	for (size_t i = 0; i < names.n && owner != UNCORE_NO_OWNER; i++) {
		int64_t uid = uid_of(folder, names.all[i]->d_name);

		if (uid >= 0)
			owner = owner < 0 || owner == uid ? uid : UNCORE_NO_OWNER;
	}
	return owner < 0 ? UNCORE_NO_OWNER : (uint32_t)owner;
}

static int lock(const struct folder *folder, int *ret_fd)
{
	_cleanup_close_ int fd =
		openat(folder->fd, LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	int r = fd < 0 ? -errno : file_lock(fd, clock_deadline_ns(JOB_PATIENCE_NS));

	if (r == 0)
		*ret_fd = take_fd(&fd);
	return r;
}

void job_owner_follow(const struct folder *folder, const char *socket_path, struct job_said *said)
{
	_cleanup_close_ int fd = -1;
	int r;

	if (!is_asked_for(socket_path))
		return;
	r = lock(folder, &fd);
	if (r < 0)
		snprintf(said->remark, sizeof said->remark,
			"The owner of the node stays as it is: cannot lock the folder of jobs: %s.",
			strerror(-r));
	else if (uncore_set_owner(socket_path, owner_of(folder)) < 0)
		snprintf(said->remark, sizeof said->remark,
			"The owner of the node stays as it is: %.*s", RUN_WHY_MAX - 64,
			uncore_error_text());
}
