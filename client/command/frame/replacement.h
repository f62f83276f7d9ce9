/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file that is replaced at once: readers find the old file or the whole new one. What is written
 * goes to a file beside it, which rename(2) puts in its place.
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
 * Opens the file beside @path, which must live as long as *@ret. The umask holds. 0; -EEXIST: @path
 * is something else than a regular file, which is never replaced; -ENOMEM; errors of open(2).
 */
_must_check_ int replacement_open(const char *path, struct replacement *ret);

/* Puts the file in its place. 0; errors of write(2) and rename(2): the old file is as it was. */
_must_check_ int replacement_commit(struct replacement *replacement);

/* Removes what was not put in its place. */
void replacement_done(struct replacement *replacement);
