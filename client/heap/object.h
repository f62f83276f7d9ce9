/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that nobody allocates: those of Fortran's modules and COMMON blocks, and static ones of C.
 * They are symbols of the files that ld.so has loaded. */
#pragma once

#include <stdbool.h>

struct jsonwriter;

/* Writes the lists "objects", and "unnamed" of modules whose symbols were stripped. Was there any?
 * Takes locks of ld.so. */
bool heap_write_objects(struct jsonwriter *json);
