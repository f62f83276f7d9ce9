/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records that could not be written to their folder. They wait on the disk (spool.h), or, where
 * that takes none, in the folder of jobs, which is gone after a boot. Every begin and end tries
 * them again. It may be held up there by a file system that hangs, so it has done its own work
 * before.
 */
#pragma once

#include "client/command/job/record/spool.h"
#include "client/jobstore/folder.h"
#include "client/jobstore/run.h"

struct waiting {
	struct spool spool;
	int spool_error;         /* why there is no spool; 0: there is one */
	char failed[RUN_TO_MAX]; /* the last folder whose disk took no record; "": none so far */
	int error;               /* ... and why: the errno, and the end of a sentence */
	char why[RUN_WHY_MAX];
	uint64_t deadline_ns; /* of trying others */
};

/* Where there is no spool, *@ret works without one. It is for waiting_done(). NULL: without one. */
void waiting_init(struct waiting *ret, const char *spool_path);
void waiting_done(struct waiting *waiting);

/*
 * Two parts of trying all records that wait, the oldest first. The first moves those that wait in
 * the folder of jobs to the disk, or else writes them. The second writes those on the disk: all of
 * @id, and as many others as there is time for. A folder whose disk has just refused one is not
 * tried with the next one.
 */
void waiting_try_folder(struct waiting *waiting, struct folder *folder);
void waiting_try_spool(struct waiting *waiting, const char *id);

/* record_file_write() to @run->head.to, unless the disk there has just refused a record. One that
 * is written waits no longer. */
int waiting_write(struct waiting *waiting, const struct run *run, const char *text,
	char ret_said[RUN_WHY_MAX]);

/* The record could not be written, and waits on the disk from now on. Errors of spool_put(). */
int waiting_keep(const struct waiting *waiting, const struct run *run, const char *text);
