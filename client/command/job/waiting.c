/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/waiting.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/command/job/job.h"
#include "client/command/job/record/record-file.h"
#include "common/clock.h"
#include "common/macro.h"

void waiting_init(struct waiting *ret, const char *spool_path)
{
	*ret = (struct waiting){
		.spool = { .folder_fd = -1, .fd = -ENOENT },
		.deadline_ns = clock_deadline_ns(JOB_PATIENCE_NS),
	};
	if (spool_path)
		spool_open(spool_path, &ret->spool);
}

void waiting_done(struct waiting *waiting)
{
	spool_close(&waiting->spool);
}

/* Would the next record fail, too? Other errors may concern the folder of one job. */
static bool is_of_disk(int error)
{
	static const int errors[] = { ENOSPC, EDQUOT, EIO, EROFS, ESTALE, ETIMEDOUT, EHOSTDOWN,
		EHOSTUNREACH, ENETUNREACH, ENOTCONN };

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		if (error == -errors[i])
			return true;
	return false;
}

int waiting_write(struct waiting *waiting, const struct run *run, const char *text,
	char ret_said[RUN_WHY_MAX])
{
	const char *to = run->head.to;
	int r;

	if (strcmp(waiting->failed, to) == 0) {
		strcpy(ret_said, waiting->why);
		return waiting->error;
	}
	*ret_said = '\0';
	r = record_file_write(to, run, text, ret_said);
	if (r == 0)
		spool_forget(&waiting->spool, &run->head);
	if (is_of_disk(r)) {
		strcpy(waiting->failed, to);
		strcpy(waiting->why, ret_said);
		waiting->error = r;
	}
	return r;
}

/* --- in the folder of jobs --- */

/* A run in the folder may be from another user who can write there. Such a run must not tell root
 * where to write. */
static bool is_waiting(const struct run *run)
{
	struct stat status;

	return !run_is_open(run) && *run->head.to && fstat(run->fd, &status) == 0 &&
	       status.st_uid == geteuid();
}

static void note(struct folder *folder, const struct run *run)
{
	if (folder_lock(folder, clock_deadline_ns(JOB_PATIENCE_NS)) < 0)
		return;
	folder_note_written(folder, run);
	folder_unlock(folder);
}

/* A run that another process has locked is left to that process. */
static void move_to_disk(struct waiting *waiting, struct folder *folder, const char *name)
{
	_cleanup_(run_close) struct run run = { .fd = -1 };
	_cleanup_free_ char *text = NULL;
	char said[RUN_WHY_MAX];

	if (run_open(folder->fd, name, O_RDWR, &run) < 0 || run_lock(&run) < 0 ||
		run_read_text(&run, &text) < 0)
		return;
	if (spool_put(&waiting->spool, &run, text) == 0 ||
		waiting_write(waiting, &run, text, said) == 0)
		note(folder, &run);
}

struct found_run {
	const char *name;
	int64_t begun_real_ns;
};

static int compare(const void *a, const void *b)
{
	const struct found_run *x = a, *y = b;

	return (x->begun_real_ns > y->begun_real_ns) - (x->begun_real_ns < y->begun_real_ns);
}

/* Finds those of @names that wait. Returns their number. */
static size_t find(
	const struct folder *folder, const struct folder_names *names, struct found_run *found)
{
	size_t n = 0;

	for (size_t i = 0; i < names->n; i++) {
		_cleanup_(run_close) struct run run = { .fd = -1 };
		const char *name = names->all[i]->d_name;

		if (run_open(folder->fd, name, O_RDONLY, &run) == 0 && is_waiting(&run))
			found[n++] = (struct found_run){ name, run.head.begun_real_ns };
	}
	return n;
}

void waiting_try_folder(struct waiting *waiting, struct folder *folder)
{
	_cleanup_(folder_names_done) struct folder_names names = { .n = 0 };
	_cleanup_free_ struct found_run *found = NULL;
	size_t n;

	if (folder_list(folder, FOLDER_ID | FOLDER_ASIDE, &names) < 0)
		return;
	found = calloc(names.n + 1, sizeof *found);
	if (!found)
		return;
	n = find(folder, &names, found);
	qsort(found, n, sizeof *found, compare);
	for (size_t i = 0; i < n && clock_now_ns() <= waiting->deadline_ns; i++)
		move_to_disk(waiting, folder, found[i].name);
}

/* --- on the disk --- */

static void try_entry(struct waiting *waiting, const struct spool_entry *entry)
{
	const struct run run = { .fd = -1, .head = entry->head };
	_cleanup_free_ char *text = NULL;
	char said[RUN_WHY_MAX];

	if (spool_read_text(&waiting->spool, entry, &text) == 0)
		waiting_write(waiting, &run, text, said);
}

static void try_all(struct waiting *waiting, const char *id)
{
	_cleanup_free_ struct spool_entry *all = NULL;
	size_t n;

	if (spool_list(&waiting->spool, &all, &n) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (clock_now_ns() <= waiting->deadline_ns || strcmp(all[i].head.id, id) == 0)
			try_entry(waiting, &all[i]);
}

/* One process at a time does this, and no other process waits for it. */
void waiting_try_spool(struct waiting *waiting, const char *id)
{
	if (waiting->spool.fd < 0 || flock(waiting->spool.fd, LOCK_EX | LOCK_NB) < 0)
		return;
	try_all(waiting, id);
	flock(waiting->spool.fd, LOCK_UN);
}
