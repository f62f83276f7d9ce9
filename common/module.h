/* SPDX-License-Identifier: BSD-3-Clause */
/* Loaded ELF modules, as dl_iterate_phdr(3) shows them. */
#pragma once

#include <link.h>
#include <stdbool.h>

enum { MODULE_ID_MAX = 65 }; /* a build ID in hexadecimal digits, with the final NUL */

bool module_has_code(const struct dl_phdr_info *module, const void *code);

/* "": it has none, or one of over 32 bytes. */
void module_build_id(const struct dl_phdr_info *module, char ret_id[MODULE_ID_MAX]);
