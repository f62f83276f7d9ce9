/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of closing for each account, until the main thread charges it. */
#pragma once

#include <stdint.h>

#include "daemon/read/budget.h"

enum { COSTS_MAX = 64 };

struct costs {
	unsigned n;
	struct {
		unsigned account;
		uint64_t ns;
	} of[COSTS_MAX];
};

/* Nobody is charged if too many accounts close at once, nor for connections without an account. */
void costs_note(struct costs *costs, unsigned account, uint64_t ns);

/* Charges all, and forgets them. */
void costs_charge(struct costs *costs, struct budget *budget);
