/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tiers of memory. Names of metrics begin with them: "dram.read". @each is a macro that turns a
 * tier, which is a string, into an element of a table. Instance numbers in PCP archives depend on
 * the order (pmda/instances.c), so a new tier comes last.
 */
#pragma once

#define TIERS(each)             each("dram"), TIERS_BESIDE_DRAM(each)
#define TIERS_BESIDE_DRAM(each) each("hbm"), each("pmm")
