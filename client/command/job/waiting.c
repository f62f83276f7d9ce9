/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/waiting.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "client/command/job/job.h"
#include "client/command/job/record/record-file.h"
#include "common/clock.h"
#include "common/macro.h"

void waiting_init(struct waiting *ret, int folder_fd, const char *spool_path)
{
	*ret = (struct waiting){
		.folder_fd = folder_fd,
		.spool_fd = spool_path ? folder_open(spool_path) : -ENOENT,
		.deadline_ns = clock_deadline_ns(JOB_PATIENCE_NS),
	};
}

void waiting_done(struct waiting *waiting)
{
	close_fd(&waiting->spool_fd);
}

int waiting_write(const struct waiting *waiting, const struct run *run, char ret_said[RUN_WHY_MAX])
{
	char name[RUN_NAME_MAX];
	int r = record_file_write(run->head.to, run, run->text, ret_said);

	run_name(run, RUN_IS_ENDED, name);
	if (r == 0 && waiting->spool_fd >= 0)
		unlinkat(waiting->spool_fd, name, 0);
	return r;
}

/* The lock of @run stays that of its file in the folder of jobs. */
int waiting_keep(const struct waiting *waiting, const struct run *run)
{
	struct run kept = *run;
	int r = waiting->spool_fd;

	if (r < 0)
		return r;
	kept.fd = -1;
	r = folder_write(
		waiting->spool_fd, &kept, RUN_IS_ENDED, clock_deadline_ns(JOB_PATIENCE_NS));
	close_fd(&kept.fd);
	return r;
}

int waiting_note(const struct waiting *waiting, const struct run *run)
{
	int r = folder_lock(waiting->folder_fd, clock_deadline_ns(JOB_PATIENCE_NS));

	if (r < 0)
		return r;
	r = folder_note_written(waiting->folder_fd, run);
	folder_unlock(waiting->folder_fd);
	return r;
}

/* A run in the folder of jobs may be from another user who can write there. Such a run must not
 * tell root where to write. */
static bool is_waiting(const struct run *run)
{
	return *run->head.to && run->text && run->owner == geteuid();
}

/* A run that another process has locked is left to that process. */
static void try_run(const struct waiting *waiting, int folder_fd, const struct run *listed)
{
	_cleanup_(run_done) struct run run = { .fd = -1 };
	char said[RUN_WHY_MAX];
	int r = run_open(folder_fd, listed, &run);

	if (r < 0 || run_lock(&run) < 0 || !is_waiting(&run))
		return;
	if (folder_fd == waiting->spool_fd)
		waiting_write(waiting, &run, said);
	else if (waiting_keep(waiting, &run) == 0 || waiting_write(waiting, &run, said) == 0)
		waiting_note(waiting, &run);
}

static void try_folder(const struct waiting *waiting, int folder_fd, const char *id)
{
	_cleanup_(folder_runs_done) struct folder_runs runs;

	if (folder_read(folder_fd, RUN_IS_ENDED, NULL, &runs) < 0)
		return;
	for (size_t i = 0; i < runs.n; i++)
		if (clock_now_ns() <= waiting->deadline_ns || strcmp(runs.all[i].head.id, id) == 0)
			try_run(waiting, folder_fd, &runs.all[i]);
}

void waiting_try(const struct waiting *waiting, const char *id, bool has_ended)
{
	if (has_ended)
		try_folder(waiting, waiting->folder_fd, id);
	if (waiting->spool_fd >= 0)
		try_folder(waiting, waiting->spool_fd, id);
}
