/* SPDX-License-Identifier: BSD-3-Clause */
/* A release before this one, as build-release.sh built it; see remake.sh. */
#pragma once

#include "tests/harness/daemon-process.h"

/* Its programs, below the build tree; what was saved of it, below the source tree. */
#define RELEASE "tests/compat/0.1.0"

/* False, with a line for the log: it could not be built here. */
bool release_was_built(void);

/* Runs a program of the build tree as @uid, with the library in folder @library of it. */
void run_with_library(struct run *ret, uid_t uid, const char *library, const char *program,
	const char *const arguments[]);

/* Where this build's library is. */
#define LIBRARY_HERE "client"
