/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncored's sources for the counts below perfevent, by number: each channel under the kernel's
 * name, each channel under libpfm4's name, and each metric of each socket under uncored's own name.
 * A number is valid for one connection.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "pmda/view.h"

struct source {
	char pmu[UNCORE_NAME_MAX];   /* "uncore_imc_0", "bdx_unc_imc0", "uncored" */
	char event[UNCORE_NAME_MAX]; /* "cas_count_read", "::UNC_M_CAS_COUNT:RD", "dram_read" */
	uint32_t socket, cpu;
	uint32_t bytes; /* per count */
};

unsigned sources_count(const struct view *view);

/* False: this source has no name, or its name is too long. */
bool sources_describe(const struct view *view, unsigned number, struct source *ret);

/* The bytes that the source has counted since uncored's generation began. False: the value is
 * absent. */
bool sources_bytes(const struct view *view, unsigned number, uint64_t *ret_bytes);
