/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What uncored has that names below perfevent can count, by number: each channel under the kernel's
 * name, each under libpfm4's, and each metric of each socket under uncored's own. A number holds
 * for one connection.
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

/* False: this one has no name, or none of few enough characters. */
bool sources_describe(const struct view *view, unsigned number, struct source *ret);

/* What it has counted since uncored's generation began, in bytes. False: that is absent. */
bool sources_bytes(const struct view *view, unsigned number, uint64_t *ret_bytes);
