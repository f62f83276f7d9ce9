/* SPDX-License-Identifier: BSD-3-Clause */
/* What the flags of a socket's values say together. Values that are absent do not count. */
#pragma once

#include <stdint.h>

#include "client/libuncore/uncore.h"

/* All flags that a metric has. */
uint32_t quality_of(const struct uncore_sample *sample);

/* How many metrics have @flag: pmie and others cannot test a bit of a number. */
uint32_t quality_flagged(const struct uncore_sample *sample, uint32_t flag);

/*
 * The last sweep that raised @flag, which comes and goes. A tool that compares two fetches sees by
 * it that the flag was raised between them, though neither fetch has the flag.
 */
uint64_t quality_raised(const struct uncore_sample *sample, uint32_t flag);

/* "hbm.read: absent (This CPU has no high-bandwidth memory.)", for each metric that has flags.
 * NULL: there is no memory. Valid until the next call. */
const char *quality_words(const struct uncore *handle, const struct uncore_sample *sample);
