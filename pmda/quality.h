/* SPDX-License-Identifier: BSD-3-Clause */
/* Summaries of the flags of a socket's values. The first two ignore absent values. */
#pragma once

#include <stdint.h>

#include "client/libuncore/uncore.h"

/* All flags that any metric has. */
uint32_t quality_of(const struct uncore_sample *sample);

/* How many metrics have @flag: pmie and other tools cannot test a bit of a number. */
uint32_t quality_flagged(const struct uncore_sample *sample, uint32_t flag);

/*
 * The last sweep that raised @flag, one of the flags that come and go. With it a tool that compares
 * two fetches sees that the flag was raised between them, even if neither fetch has the flag.
 */
uint64_t quality_raised(const struct uncore_sample *sample, uint32_t flag);

/* "hbm.read: absent (This CPU has no high-bandwidth memory.)", for each metric that has flags.
 * NULL: there is no memory. Valid until the next call. */
const char *quality_words(const struct uncore *handle, const struct uncore_sample *sample);
