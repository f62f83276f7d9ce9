/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/admit/refusals.h"

static const uint64_t MINUTE_NS = 60000000000U;

bool refusals_note(struct refusals *refusals, enum policy_rule rule, uint32_t uid, uint64_t now_ns,
	uint64_t *ret_n_silent)
{
	refusals->n++;
	refusals->n_by_rule[rule]++;
	return log_limits_permit(&refusals->users, MINUTE_NS, uid, now_ns, ret_n_silent);
}
