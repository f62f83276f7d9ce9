/* SPDX-License-Identifier: BSD-3-Clause */
/* Libraries that are loaded into programs of others. */
#pragma once

#include <limits.h>
#include <stdbool.h>

/* The path of libuncore-@name.so: beside this program, in a build folder; or where it was
 * installed. False: it is not there. */
bool module_find(const char *name, char ret_path[PATH_MAX]);

/* Programs that are started from now on load it before what they need themselves. */
void module_preload(const char *path);

/*
 * uncore run --heap: lets @command write which arrays it has. Says on stderr if it cannot. -1: go
 * on; or the exit status.
 */
int module_prepare_heap(char **command);
