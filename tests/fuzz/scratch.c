/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/scratch.h"

#include <err.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/macro.h"

enum { FOLDERS_OPEN_MAX = 8 };

static char folder[] = "/tmp/uncored-fuzz.XXXXXX";

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status;
	(void)type;
	(void)where;
	return remove(path);
}

static void remove_folder(void)
{
	nftw(folder, remove_one, FOLDERS_OPEN_MAX, FTW_DEPTH | FTW_PHYS);
}

const char *scratch_folder(void)
{
	static bool made;

	if (!made) {
		if (!mkdtemp(folder))
			err(1, "Cannot make the folder %s", folder);
		atexit(remove_folder);
		made = true;
	}
	return folder;
}

const char *scratch_write(const char *name, const uint8_t *data, size_t size_bytes)
{
	static char path[256];
	_cleanup_file_ FILE *file = NULL;

	snprintf(path, sizeof path, "%s/%s", scratch_folder(), name);
	file = fopen(path, "w");
	if (!file || (size_bytes && fwrite(data, size_bytes, 1, file) != 1))
		err(1, "Cannot write %s", path);
	return path;
}
