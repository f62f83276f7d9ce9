/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A folder of runs. Users that may write there may begin and end jobs. A group that may read there
 * may look at them. A lock on the folder orders all changes; it is held for a few system calls
 * within the folder, never while a process waits for uncored or for the folder of a record.
 *
 * There are two. That of the open jobs lies in memory, so that it is empty after a boot. It has
 *
 *	ID@BEGIN         a run that is open
 *	ID@BEGIN.ended   one that has ended and is not known to be written
 *	.ID@BEGIN.ended  one that was written: kept while a job is open that began before its end,
 *	                 which is how the open one knows whom it met; and the last few, for an end
 *	                 that is repeated because the first one was killed
 *
 * The other is on a disk, and has the second kind alone: records that could not be written.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/jobstore/run.h"

#define FOLDER_PATH  "/run/uncored-jobs"
#define FOLDER_SPOOL "/var/spool/uncored-jobs"

enum {
	FOLDER_RUNS_MAX = 1024,    /* that are open or not written */
	FOLDER_WRITTEN_MAX = 1024, /* that were written and are kept */
	FOLDER_WRITTEN_LAST = 64,  /* ... and are kept if no open job has met them */
};

/* Opens the folder, and makes it if there is none: its descriptor. Errors of mkdir(2) and open(2).
 */
int folder_open(const char *path);

/* The same for a process that only reads. -ENOENT: there is no folder. */
int folder_look(const char *path);

/* Locks the folder, or a file in it. -ETIMEDOUT: another process held the lock until @deadline_ns.
 */
int folder_lock(int fd, uint64_t deadline_ns);
void folder_unlock(int folder_fd);

/* Calls run_write() under the lock. */
int folder_write(int folder_fd, struct run *run, enum run_kind kind, uint64_t deadline_ns);

/* --- its runs --- */

struct folder_runs {
	size_t n;
	struct run *all;        /* owned; in the order of their begins */
	size_t n_open, n_ended; /* of all IDs, as their names say */
};

/* Reads the runs of @id (NULL: of all IDs) of these @kinds. Those that cannot be read are foreign.
 * Takes no lock: files may come and go meanwhile. *@ret is for folder_runs_done() also on failure,
 * and empty then. -ENOMEM; errors of scandir(3). */
int folder_read(int folder_fd, unsigned kinds, const char *id, struct folder_runs *ret);
void folder_runs_done(struct folder_runs *runs);

/* Reads the open ones in the folder @path that are not foreign, for a process that only looks.
 * -E2BIG: they are more than @most, and *@ret has those that began first. */
int folder_read_open(const char *path, size_t most, struct folder_runs *ret);

/* The run of @id that is open or, if none is, that ended last; NULL: there is none of @kinds. */
const struct run *folder_last(const struct folder_runs *runs, const char *id, unsigned kinds);

/* How many other runs of those in the folder @run, which is open, has met on @package so far. Too
 * high if one of them is left over, and never too low. -ENODATA: more may have been there. */
int64_t folder_others(const struct folder_runs *runs, const struct run *run, uint32_t package);

/* Removes written runs that nobody needs. Under the lock. */
void folder_prune(int folder_fd, const struct folder_runs *runs);

/* Notes that @run, which has ended, was written. Under the lock. */
int folder_note_written(int folder_fd, const struct run *run);
