/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Refusals: counted by rule, and told in the log at most once a minute for each user. The table of
 * users is bounded; users that find no place in it share one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/site/policy.h"

enum { REFUSALS_USERS = 64 };

struct refusals_user {
	uint32_t uid;
	uint64_t logged_ns; /* CLOCK_MONOTONIC; 0: this place is free */
	uint64_t n_silent;  /* refusals since then */
};

struct refusals {
	uint64_t n;
	uint64_t n_by_rule[POLICY_RULES];
	struct refusals_user users[REFUSALS_USERS + 1]; /* the last is shared */
};

/*
 * Counts a refusal of @uid. True: a line in the log is due, which should say that *@ret_n_silent
 * refusals had none since the last.
 */
bool refusals_note(struct refusals *refusals, enum policy_rule rule, uint32_t uid, uint64_t now_ns,
	uint64_t *ret_n_silent);
