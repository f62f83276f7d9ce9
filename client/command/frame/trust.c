/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/trust.h"

#include <stdio.h>
#include <unistd.h>

#include "client/command/frame/user.h"

bool trust_add(struct trust *trust, const char *title, const char *user)
{
	uint32_t uid;

	if (user_find(user, &uid) < 0) {
		fprintf(stderr, "%s: this machine has no user %s.\n", title, user);
		return false;
	}
	if (trust->n == TRUST_USERS_MAX) {
		fprintf(stderr, "%s: --trust names more than %d users.\n", title, TRUST_USERS_MAX);
		return false;
	}
	trust->uids[trust->n++] = uid;
	return true;
}

bool trust_has(const struct trust *trust, uint32_t uid)
{
	for (uint32_t i = 0; i < trust->n; i++)
		if (trust->uids[i] == uid)
			return true;
	return uid == 0 || uid == geteuid();
}
