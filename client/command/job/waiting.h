/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records that could not be written to their folder. They wait on the disk (spool.h) or, if the
 * disk takes none, in the folder of jobs, which is gone after a reboot. Every begin and end tries
 * them again, after its own work, because a file system that hangs may hold it up there.
 */
#pragma once

#include "client/command/job/record/spool.h"
#include "client/jobstore/folder.h"
#include "client/jobstore/run.h"

struct waiting {
	struct spool spool;
	char failed[RUN_TO_MAX]; /* the last folder whose disk took no record; "": none so far */
	int error;               /* ... and why: the errno, and the end of a sentence */
	char why[RUN_WHY_MAX];
	uint64_t deadline_ns; /* for trying other records */
};

/* Without a spool, or with NULL, *@ret works without one. It is for waiting_done(). */
void waiting_init(struct waiting *ret, const char *spool_path);
void waiting_done(struct waiting *waiting);

/*
 * The two parts of trying all records that wait, oldest first. The first moves the records in the
 * folder of jobs to the disk, or else writes them. The second writes the records on the disk: all
 * of @id, and as many others as time allows. If the disk of a folder has just refused a record, no
 * other record is tried there.
 */
void waiting_try_folder(struct waiting *waiting, struct folder *folder);
void waiting_try_spool(struct waiting *waiting, const char *id);

/* Calls record_file_write() for @run->head.to, unless the disk there has just refused a record. A
 * written record no longer waits. */
int waiting_write(struct waiting *waiting, const struct run *run, const char *text,
	char ret_said[RUN_WHY_MAX]);
