/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdio.h>

/*
 * A process that starts with a closed stdin, stdout or stderr would give that number to a file that
 * it opens, and would write into that file. This occupies the numbers; writing to them then fails.
 */
void output_keep_apart(void);

/*
 * Has all output to @out arrived? 0; else -1, after a line on stderr that names @command and the
 * @name of @out.
 */
int output_check(FILE *out, const char *command, const char *name);
