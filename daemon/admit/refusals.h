/* SPDX-License-Identifier: BSD-3-Clause */
/* Refusals: counted by rule, and logged at most once a minute for each user. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/log-limit.h"
#include "daemon/site/policy.h"

struct refusals {
	uint64_t n;
	uint64_t n_by_rule[POLICY_RULES];
	struct log_limits users;
};

/* Counts a refusal of @uid. True: the caller should log a line, which says that *@ret_n_silent
 * refusals since the last line were not logged. */
bool refusals_note(struct refusals *refusals, enum policy_rule rule, uint32_t uid, uint64_t now_ns,
	uint64_t *ret_n_silent);
