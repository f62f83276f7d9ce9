/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which stops a test looks at. Many are alike, so a run takes one in so many, and begins with
 * another one each time: UNCORE_TEST_SEED says with which, and the run prints it. With
 * UNCORE_TEST_SEEDS=N a run takes the stops of N seeds.
 */
#pragma once

#include <stdlib.h>

#include "common/clock.h"
#include "tests/harness/test.h"

static inline unsigned stops_seed(void)
{
	static bool is_known;
	static unsigned seed;
	const char *given = getenv("UNCORE_TEST_SEED");

	if (!is_known) {
		seed = given ? (unsigned)atoi(given) : (unsigned)(clock_now_ns() / 1000000 % 1000);
		print_message("# UNCORE_TEST_SEED=%u\n", seed);
	}
	is_known = true;
	return seed;
}

/* How often the stops are walked through, each time with another first one. */
static inline unsigned stops_passes(unsigned stride)
{
	const char *given = getenv("UNCORE_TEST_SEEDS");
	unsigned n = given ? (unsigned)atoi(given) : 1;

	return n < stride ? n : stride;
}

/* The first stop of a pass: 1 to @stride. */
static inline unsigned stops_first(unsigned stride, unsigned pass)
{
	return 1 + (stops_seed() + pass) % stride;
}
