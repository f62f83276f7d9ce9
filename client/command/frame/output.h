/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdio.h>

/*
 * A process that is begun with a closed stdin, stdout or stderr would give their numbers to files
 * that it opens, and write into them. This takes the numbers; what is written there then fails.
 */
void output_keep_apart(void);

/*
 * Has all that was written to @out arrived? 0; -1, and a line on stderr that names @command and the
 * @name of @out, if not.
 */
int output_check(FILE *out, const char *command, const char *name);
