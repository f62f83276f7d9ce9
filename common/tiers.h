/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tiers of memory, as the names of their metrics begin: "dram.read". @each is a macro that
 * makes of the tier, a string, an element of a table. The order is part of numbers in PCP's
 * archives (pmda/instances.c), so a new tier comes last.
 */
#pragma once

#define TIERS(each)             each("dram"), TIERS_BESIDE_DRAM(each)
#define TIERS_BESIDE_DRAM(each) each("hbm"), each("pmm")
