/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/base/log-limit.h"

static const uint64_t MINUTE_NS = 60000000000U;

bool log_limit_permits(struct log_limit *limit, uint64_t now_ns, uint64_t *ret_n_silent)
{
	if (limit->logged_ns && now_ns - limit->logged_ns < MINUTE_NS) {
		limit->n_silent++;
		return false;
	}
	*ret_n_silent = limit->n_silent;
	*limit = (struct log_limit){ .logged_ns = now_ns };
	return true;
}
