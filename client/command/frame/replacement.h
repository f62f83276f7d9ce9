/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file that is replaced at once: readers find the old file or the whole new one. The output goes
 * to a file beside it, and rename(2) puts that in its place.
 */
#pragma once

#include <stdio.h>

#include "common/macro.h"

struct replacement {
	FILE *out;
	const char *path;
	char *aside; /* owned; NULL: there is no such file */
};

/*
 * Opens the file beside @path, which must outlive *@ret. The umask applies. 0; -EEXIST: @path is
 * not a regular file, and only regular files are replaced; -ENOMEM; errors of open(2).
 */
_must_check_ int replacement_open(const char *path, struct replacement *ret);

/* Puts the file in its place. 0; errors of write(2) and rename(2): the old file is unchanged. */
_must_check_ int replacement_commit(struct replacement *replacement);

/* Removes the file, unless it was put in its place. */
void replacement_done(struct replacement *replacement);
