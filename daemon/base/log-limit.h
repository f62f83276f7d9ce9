/* SPDX-License-Identifier: BSD-3-Clause */
/* A line of the log that others can cause is written at most once a minute. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct log_limit {
	uint64_t logged_ns; /* CLOCK_MONOTONIC; 0: never */
	uint64_t n_silent;  /* lines since then that were not written */
};

/* True: a line is due, which should say that *@ret_n_silent lines since the last were not
 * written. */
bool log_limit_permits(struct log_limit *limit, uint64_t now_ns, uint64_t *ret_n_silent);
