/* SPDX-License-Identifier: BSD-3-Clause */
/* An earlier release, as build-release.sh built it; see remake.sh. */
#pragma once

#include "tests/harness/daemon-process.h"

/* Its programs, below the build tree; its saved messages and page, below the source tree. */
#define RELEASE "tests/compat/0.1.0"

/* False, with a line for the log: it could not be built here. */
bool release_was_built(void);

/* Runs a program of the build tree as @uid, with the library in folder @library of it. */
void run_with_library(struct run *ret, uid_t uid, const char *library, const char *program,
	const char *const arguments[]);

/* The folder of this build's library. */
#define LIBRARY_HERE "client"
