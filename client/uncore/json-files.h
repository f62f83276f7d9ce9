/* SPDX-License-Identifier: BSD-3-Clause */
/* Files and folders that a command is given: each file, and all files *.json of each folder. */
#pragma once

#include <stdbool.h>

struct json_files {
	char **paths;
	int n;
};

/* Calls @take for each. False: a folder could not be read, or has none, and @title has said so on
 * stderr. */
bool json_files_each(const char *title, const struct json_files *files,
	void (*take)(const char *path, bool in_directory, void *argument), void *argument);
