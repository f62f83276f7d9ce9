/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The folder into which `uncore job end` puts a record. If several nodes share it, each job has a
 * folder of its own inside, which the job's user may list.
 */
#pragma once

#include <stdbool.h>

#include "client/jobstore/run.h"

/* Is it a folder's name in which %j stands for the job's ID, %% for %, and no other % occurs? */
bool record_folder_is_valid(const char *name);

/*
 * Opens the folder of that name for the record of @run. Makes the folder if it is missing, but none
 * above it, so that no folder takes the place of a file system that is not mounted. A record of
 * root does not go into a folder that another user may replace: -EPERM. Errors of open(2), mkdir(2)
 * and fstat(2). On each error, *@ret_why has the end of a sentence.
 */
int record_folder_open(
	const char *name, const struct run *run, int *ret_fd, char ret_why[RUN_WHY_MAX]);
