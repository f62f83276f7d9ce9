/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The folder into which `uncore job end` puts a record. Where several nodes share one, each job has
 * a folder of its own in it, which its user may list.
 */
#pragma once

#include <stdbool.h>

#include "client/jobstore/run.h"

/* Is it a folder's name in which %j stands for the ID of the job, %% for %, and no other %? */
bool record_folder_is_valid(const char *name);

/*
 * Opens the folder of that name for the record of @run, and makes it if it is not there, but none
 * above it: a file system that is not mounted is not replaced by a folder. Root's record goes into
 * no folder that another user may replace: -EPERM. Errors of open(2), mkdir(2) and fstat(2).
 * *@ret_why has the end of a sentence on each error.
 */
int record_folder_open(
	const char *name, const struct run *run, int *ret_fd, char ret_why[RUN_WHY_MAX]);
