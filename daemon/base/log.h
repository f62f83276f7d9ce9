/* SPDX-License-Identifier: BSD-3-Clause */
/* One line per event to stderr, with the journal's priority prefix where the journal reads it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* --- limits how often a line is written that others can cause --- */

struct log_limit {
	uint64_t logged_ns; /* CLOCK_MONOTONIC; 0: never */
	uint64_t n_silent;  /* lines since then that were not written */
};

/* Permits a line once a minute. True: write the line, and say in it that *@ret_n_silent lines since
 * the last line were not written. */
bool log_limit_permits(struct log_limit *limit, uint64_t now_ns, uint64_t *ret_n_silent);

enum { LOG_USERS = 64 };

/* A limit for each user. The table is bounded; users that have no place in it share one limit. */
struct log_limits {
	uint64_t users[LOG_USERS];
	struct log_limit limits[LOG_USERS + 1]; /* of these users; the last is shared */
};

/* As log_limit_permits(), once in @every_ns for @user. */
bool log_limits_permit(struct log_limits *limits, uint64_t every_ns, uint64_t user, uint64_t now_ns,
	uint64_t *ret_n_silent);
