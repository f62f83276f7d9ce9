/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the programs `accesses` of each instruction set share: accesses CASE makes a few hundred
 * loads and stores of one kind on a simulated memory controller, and prints as JSON what each node
 * moved for them, in bytes.
 *
 * Case "nothing" does nothing.
 *
 * Before a case the caches hold clean lines of other memory alone, and after it these are read
 * again, so that all that the case wrote goes out. What these readings move is taken off.
 */
#pragma once

#include <stdint.h>

#include "tests/traffic/counters.h"

enum {
	LINE = TRAFFIC_LINE_BYTES,
	LINES = 256, /* that a case touches */
	BYTES = LINES * LINE,
};

struct access_case {
	const char *name;
	void (*run)(void);
};

#define ACCESS_CASE(function) #function, function

/* Each program has its own; behind the last stands one without a name. */
extern const struct access_case access_cases[];

/* The memory of the cases: untouched, at the begin of a page. */
extern char *memory;

/* Where loaded values go. */
extern volatile uint64_t sink;
