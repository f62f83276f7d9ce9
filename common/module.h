/* SPDX-License-Identifier: BSD-3-Clause */
/* Loaded ELF modules. A place in one of them is the same in all processes, and remains known when
 * the module was unloaded. */
#pragma once

#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>

enum { MODULE_ID_MAX = 65 }; /* a build ID in hexadecimal digits, with the final NUL */

struct module_place {
	char path[PATH_MAX];
	char id[MODULE_ID_MAX]; /* "": it has none, or one of over 32 bytes */
	uint64_t offset;
};

/* False: @code is in no module, as what was made at run time. Takes locks of ld.so. */
bool module_find_place(const void *code, struct module_place *ret);

/* Of a module, as dl_iterate_phdr(3) shows it; ld.so has no name for the program itself. */
void module_path(const struct dl_phdr_info *module, char ret_path[PATH_MAX]);
