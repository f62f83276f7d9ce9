/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A report trusts a file in a folder if its owner is root, the caller, or a user that the caller
 * names.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { TRUST_USERS_MAX = 64 };

struct trust {
	uint32_t n;
	uint32_t uids[TRUST_USERS_MAX];
};

/* @user: a name or a number. False: this machine has no such user, or there are too many, and
 * @title has said so on stderr. */
bool trust_add(struct trust *trust, const char *title, const char *user);

bool trust_has(const struct trust *trust, uint32_t uid);
