/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdio.h>

/*
 * Has all that was written to @out arrived? 0; -1, and a line on stderr that names @command and the
 * @name of @out, if not.
 */
int output_check(FILE *out, const char *command, const char *name);
