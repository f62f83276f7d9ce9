/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of a record: ID@BEGIN.json, which root owns and the job's user may read. ID@HOST is a
 * link to the file of the latest run with figures or, if no run has figures, of the latest run. If
 * several nodes share the folder into which `uncore job end` puts it, each job has a folder of its
 * own inside, which the job's user may list.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "client/jobstore/run.h"
#include "client/report/record-time.h"

/*
 * Writes @text, the record of @run, into the folder @to, and makes the folder if it is missing. The
 * file is whole or not there. If the record is already there, nothing is done. A file that somebody
 * else put there, or that is damaged, is replaced. If another run has the name, the file gets the
 * next name, ID@BEGIN.2.json and so on. Errors of record_folder_open(), open(2), write(2),
 * fsync(2), link(2) and symlink(2), with the end of a sentence in *@ret_said. On success,
 * *@ret_said tells in sentences what the file lacks, or is "".
 */
int record_file_write(
	const char *to, const struct run *run, const char *text, char ret_said[RUN_WHY_MAX]);

/* --- its folder --- */

/* Is it a folder's name in which %j stands for the job's ID, %% for %, and no other % occurs? */
bool record_folder_is_valid(const char *name);

/*
 * Opens the folder of that name, which begins at the root, for the record of @run. Makes the folder
 * if it is missing, but none above it, so that no folder takes the place of a file system that is
 * not mounted. A record of root does not go into a folder that another user may replace: -EPERM.
 * Errors of open(2), mkdir(2) and fstat(2). On each error, *@ret_why has the end of a sentence.
 */
int record_folder_open(
	const char *name, const struct run *run, int *ret_fd, char ret_why[RUN_WHY_MAX]);

/*
 * Gives @fd, a file or folder of the caller, the permissions @mode, and gives @permissions (R_OK
 * and so on) to the user @uid, by an access control list. No group is needed for that. -EOPNOTSUPP:
 * its file system has no such lists; errors of fsetxattr(2). On an error, the permissions are
 * unchanged.
 */
int record_folder_allow(int fd, mode_t mode, uint32_t uid, unsigned permissions);
