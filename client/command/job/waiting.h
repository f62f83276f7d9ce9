/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records that could not be written to their folder. They wait on the disk or, if the disk takes
 * none, in the folder of jobs, which is gone after a reboot. Every begin and end tries them again,
 * after its own work, because a file system that hangs may hold it up there.
 */
#pragma once

#include "client/jobstore/folder.h"

struct waiting {
	int folder_fd;
	int spool_fd;         /* on the disk; negative errno: why there is none */
	uint64_t deadline_ns; /* for trying other records */
};

/* Without a spool, or with NULL, *@ret works without one. It is for waiting_done(). */
void waiting_init(struct waiting *ret, int folder_fd, const char *spool_path);
void waiting_done(struct waiting *waiting);

/*
 * Tries all records that wait, oldest first. With @has_ended, it first moves those in the folder of
 * jobs to the disk, or else writes them. Then it writes those on the disk: all of @id, and as many
 * others as time allows.
 */
void waiting_try(const struct waiting *waiting, const char *id, bool has_ended);

/* Calls record_file_write() for @run->head.to. A written record no longer waits on the disk. */
int waiting_write(const struct waiting *waiting, const struct run *run, char ret_said[RUN_WHY_MAX]);

/* Keeps the record of @run on the disk, for the folder that @run names now. -ETIMEDOUT: another
 * process holds the lock; errors of run_write(). */
int waiting_keep(const struct waiting *waiting, const struct run *run);

/* The record of @run was written, or is on the disk. -ETIMEDOUT; errors of folder_note_written().
 */
int waiting_note(const struct waiting *waiting, const struct run *run);
