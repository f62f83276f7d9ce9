/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/uncore/json-files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/macro.h"

static int is_json(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return n > strlen(".json") && strcmp(entry->d_name + n - strlen(".json"), ".json") == 0;
}

static bool each_of_folder(const char *title, const char *path,
	void (*take)(const char *path, bool in_directory, void *argument), void *argument)
{
	struct dirent **entries;
	int n = scandir(path, &entries, is_json, alphasort);
	bool whole = true;

	if (n <= 0) {
		fprintf(stderr, "%s: %s %s.\n", title, path,
			n < 0 ? strerror(errno) : "has no files *.json");
		return false;
	}
	for (int i = 0; i < n; i++) {
		_cleanup_free_ char *file = NULL;

		if (asprintf(&file, "%s/%s", path, entries[i]->d_name) < 0) {
			file = NULL;
			whole = false;
		} else {
			take(file, true, argument);
		}
		free(entries[i]);
	}
	free(entries);
	return whole;
}

bool json_files_each(const char *title, const struct json_files *files,
	void (*take)(const char *path, bool in_directory, void *argument), void *argument)
{
	struct stat status;
	bool whole = true;

	for (int i = 0; i < files->n; i++)
		if (stat(files->paths[i], &status) == 0 && S_ISDIR(status.st_mode))
			whole &= each_of_folder(title, files->paths[i], take, argument);
		else
			take(files->paths[i], false, argument);
	return whole;
}
