/* SPDX-License-Identifier: BSD-3-Clause */
/* Users of this machine, and those whose files a report trusts. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* @user: a number, or a name that this machine knows. False: @title has said so on stderr. */
bool user_take(const char *title, const char *user, uint32_t *ret_uid);

/* The name of @uid, or "unknown"; until the next call. */
const char *user_name(uint32_t uid);

/*
 * A report trusts a file in a folder if its owner is root, the caller, or a user that the caller
 * names.
 */
enum { TRUST_USERS_MAX = 64 };

struct trust {
	uint32_t n;
	uint32_t uids[TRUST_USERS_MAX];
};

/* @user: a name or a number. False: this machine has no such user, or there are too many, and
 * @title has said so on stderr. */
bool trust_add(struct trust *trust, const char *title, const char *user);

bool trust_has(const struct trust *trust, uint32_t uid);
