/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions of small programs of the tests, which end with a sentence where a region fails. */
#pragma once

#include <err.h>

#include "client/libuncore/uncore.h"

static inline void program_begin(const char *name)
{
	if (uncore_region_begin(name) < 0)
		errx(1, "%s", uncore_error_text());
}

static inline void program_end(const char *name)
{
	if (uncore_region_end(name) < 0)
		errx(1, "%s", uncore_error_text());
}
