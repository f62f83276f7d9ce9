/* SPDX-License-Identifier: BSD-3-Clause */
/* hwloc, which is loaded by `uncore validate` alone: with libudev, which it needs, it would be a
 * fourth of what ld.so does for `uncore stat`. */
#pragma once

/* Before any other function of hwloc is called. NULL, or what is wrong, as dlerror(3) says it. */
const char *hwloc_library_load(void);
