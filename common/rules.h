/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules by which a user may connect to uncored, with numbers of users and groups. uncored
 * applies them when a client connects, and publishes them to its clients. A client that reads for
 * others, such as pmdauncore(1), applies them, too. Both use this code.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { RULES_USERS_MAX = 96 };

/* Stands for an owner, a user or a group that does not exist or is not known. */
enum { RULES_NOBODY = UINT32_MAX };

/* The socket file on which uncored listens; @mode: its permissions. */
struct rules_socket {
	uint32_t uid, gid, mode;
};

struct rules {
	struct rules_socket socket;
	uint32_t owner_only, owner; /* of the job that the node runs */
	uint32_t by_group, group;
	uint32_t n_users; /* 0: any */
	uint32_t users[RULES_USERS_MAX];
} __attribute__((aligned(8))); /* it is copied as 64-bit words, see page.c */

/* A user that asks to connect, as the kernel describes it. */
struct rules_user {
	uint32_t uid, gid;
	const uint32_t *groups; /* supplementary */
	uint32_t n_groups;
};

enum rule { RULE_NONE, RULE_SOCKET, RULE_GROUP, RULE_USERS, RULE_OWNER, RULES };

/*
 * The first rule from @from on that keeps the user from connecting, or RULE_NONE. For direct
 * connections the kernel enforces RULE_SOCKET, the permissions of the socket, so these begin with
 * RULE_GROUP.
 */
enum rule rules_broken(const struct rules *rules, const struct rules_user *user, enum rule from);

/* "is not among the users who may connect to uncored" */
const char *rule_words(enum rule rule);
