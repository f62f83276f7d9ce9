/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files and folders that a command is given: each file, and all *.json files of each folder.
 * The command trusts a file that the caller names. A folder may hold files of others: the command
 * reads only those of trusted users, up to a size, and follows a link only to a name in the same
 * folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/command/frame/user.h"

struct json_files {
	const char *title; /* of the command, for stderr */
	char **paths;
	int n;
	const struct trust *trust;
	size_t most_bytes; /* of a file in a folder */
	bool again;        /* says nothing: it was said the first time */
	/* NULL, or whether a file in a folder is read, by its name. */
	bool (*wants)(const char *name, void *argument);
};

struct json_file {
	const char *path;
	const char *name; /* in its folder; NULL: the caller named the file, and @take reads it */
	char *text;       /* of the file in a folder; @take may change it */
};

/* May a file of this name in a folder be of the job @id? One of the name JOB@REST is of that job.
 */
bool json_file_may_be_of(const char *name, const char *id);

/* Calls @take for each file. False: a folder could not be read, or has no such file, or a file was
 * left out, and stderr says so. */
bool json_files_each(const struct json_files *files,
	void (*take)(const struct json_file *file, void *argument), void *argument);
