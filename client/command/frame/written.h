/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a command writes to a file that the user named. Readers find the old file or the whole new
 * one, also if two commands write to one name: the output goes to a file without a name in the same
 * folder, and rename(2) puts that in its place at the end. A failure leaves the old file, and
 * nothing beside it.
 *
 * A link is followed, and what it leads to is replaced. A pipe or device is written through, "-" is
 * stdout. A file is written in place, under a lock, if a new one could not stand for it: it has
 * another owner or another name, or its folder takes no new files.
 *
 * Lines that are read while they come are written in place, too. Their lock lasts to the end, and
 * no other command gets this file meanwhile.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "common/macro.h"

enum written_how {
	WRITTEN_WHOLE,
	WRITTEN_APPENDED, /* behind what is there */
	WRITTEN_LINES,    /* while they come */
	WRITTEN_LINES_APPENDED,
};

struct written {
	FILE *out;     /* stdout is not owned; NULL: it is not open */
	char *target;  /* owned; what is replaced at the end; NULL: it is written in place */
	char *aside;   /* owned; the name on the way there, in the same folder */
	bool is_there; /* .aside exists */
};

/* Opens @path. A new file has the mode that the umask leaves, and a replaced one keeps its mode. 0;
 * -EBUSY: another command writes lines there; -ENOMEM; errors of open(2). */
_must_check_ int written_open(const char *path, enum written_how how, struct written *ret);

/* Ends the output, and puts it in its place. 0; -EBUSY; errors of write(2) and rename(2). */
_must_check_ int written_end(struct written *written);

/* Drops what was not ended. */
void written_done(struct written *written);

/* The sentence on stderr behind such an error, or what it is made of. */
void written_complain(const char *command, const char *path, int error);
const char *written_why(int error);
const char *written_name(const char *path); /* "stdout" for "-" */
