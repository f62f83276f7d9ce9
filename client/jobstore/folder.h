/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The folder of open jobs. It lies in memory, so that it is empty after a boot. Users that may
 * write there may begin and end jobs. A group that may read there may look at them. A lock on the
 * folder orders all changes; it is held for a few system calls within the folder, never while a
 * process waits for uncored or for a disk.
 *
 *	ID          a run that is open, or has ended and is not known to be written (run.h)
 *	.ID@INODE   a run that has ended and is not known to be written; its ID was begun again
 *	.ID         the last run of ID that was written: the folder keeps a few, for an end that
 *	            is repeated because the first one was killed
 *	..counts    counts.h
 *	..new       a run that is not begun yet
 */
#pragma once

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/jobstore/counts.h"
#include "client/jobstore/run.h"

#define FOLDER_PATH "/run/uncored-jobs"
#define FOLDER_NEW  "..new"

enum {
	FOLDER_RUNS_MAX = 1024,
	FOLDER_NAME_MAX = JOB_ID_BYTES + 24, /* bytes of the longest of the names above */
	FOLDER_WRITTEN_MAX = 64,             /* runs that were written and are kept */
};

struct folder {
	int fd; /* -1: not open */
	int counts_fd;
	struct counts counts; /* as of folder_lock() */
};

/* Opens the folder, and makes it if there is none. *@ret is for folder_close(), also on failure.
 * Errors of mkdir(2) and open(2). */
int folder_open(const char *path, struct folder *ret);
void folder_close(struct folder *folder);

/* The same for a process that only reads. -ENOENT: there is no folder. */
int folder_look(const char *path, struct folder *ret);

/*
 * Locks the folder and reads the counts. -ETIMEDOUT: another process held the lock until
 * @deadline_ns; errors of the folder's files.
 */
int folder_lock(struct folder *folder, uint64_t deadline_ns);
void folder_unlock(struct folder *folder);

/*
 * Each change of the folder is made between these two calls, under the lock. If the process dies or
 * fails before the second call, the next folder_lock() counts anew. Errors of write(2).
 */
int folder_begin_change(struct folder *folder);
int folder_end_change(struct folder *folder);

/* Moves the run with the name @id aside, so that the ID can begin again. Within a change. */
int folder_put_aside(struct folder *folder, const char *id, const struct run *run);

/* Notes that @run was written, whatever its name is now. A separate change, under the lock. */
int folder_note_written(struct folder *folder, const struct run *run);

/* Opens the last written run of @id. -ENOENT: the folder has none; errors of run_open(). */
int folder_open_written(const struct folder *folder, const char *id, struct run *ret);

/* What the name of a file says, of those above. */
enum folder_kind { FOLDER_ID = 1, FOLDER_ASIDE = 2, FOLDER_WRITTEN = 4 };

/* Files in the folder, sorted by name. */
struct folder_names {
	struct dirent **all; /* owned */
	size_t n;
};

/* Lists the files of these @kinds. Errors of scandir(3). */
int folder_list(const struct folder *folder, unsigned kinds, struct folder_names *ret);

/* Is the file that is aside a run of @id? */
bool folder_is_aside(const char *name, const char *id);
void folder_names_done(struct folder_names *names);
