/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records that could not be written wait here, on a disk of the node, so that they survive a
 * reboot. A begin reserves the room before any record needs it, so that a disk that has become full
 * still takes the records. It is one file, because a full disk may have no room for another name
 * either.
 *
 *	a page     the header
 *	pages      for each record: its run's head, and then its text, from the next page on
 *
 * A lock on the folder orders all changes, and is held for a few system calls. A lock on the file
 * is for processes that write records from here to their folders; see waiting.h.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "client/jobstore/run.h"

#define SPOOL_PATH "/var/spool/uncored-jobs"
#define SPOOL_FILE "waiting"

enum { SPOOL_BYTES = 8 << 20 }; /* about 1000 records of machines with two sockets */

struct spool {
	int folder_fd; /* -1: not open */
	int fd;        /* negative errno: why there is no spool */
};

/* A record that waits. */
struct spool_entry {
	uint32_t at; /* its first page */
	struct run_head head;
};

/* Makes what is missing, and reserves the room. *@ret is for spool_close(), also on failure. Errors
 * of mkdir(2) and open(2). A disk without room is not a failure yet. */
int spool_open(const char *path, struct spool *ret);
void spool_close(struct spool *spool);

/* The same for a process that only looks: -ENOENT where there is none. */
int spool_look(const char *path, struct spool *ret);

/* Keeps the record @text of @run, for the folder that @run names now. The record is on the disk
 * when this returns 0. -ENOSPC; -ETIMEDOUT: another process holds the lock; errors of write(2) and
 * fsync(2). */
int spool_put(const struct spool *spool, const struct run *run, const char *text);

/* Lists all records that wait, those that began first before others. *@ret is for free(3). */
int spool_list(const struct spool *spool, struct spool_entry **ret, size_t *ret_n);

/* *@ret is for free(3). */
int spool_read_text(const struct spool *spool, const struct spool_entry *entry, char **ret);

/* The record of the run is now in its folder: removes it, if it waits here. */
int spool_forget(const struct spool *spool, const struct run_head *head);
