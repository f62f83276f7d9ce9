/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules by which a user may connect to uncored, in numbers. uncored goes by them when a client
 * connects, and publishes them to its clients: one that reads for others, as pmdauncore(1) does,
 * goes by them, too. Both do it by this code.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { RULES_USERS_MAX = 96 };

/* An owner, a user or a group that there is none of, or that nobody knows. */
enum { RULES_NOBODY = UINT32_MAX };

/* The file at which uncored listens; @mode: its permissions. */
struct rules_socket {
	uint32_t uid, gid, mode;
};

struct rules {
	struct rules_socket socket;
	uint32_t owner_only, owner; /* of the job that the node runs */
	uint32_t by_group, group;
	uint32_t n_users; /* 0: any */
	uint32_t users[RULES_USERS_MAX];
} __attribute__((aligned(8))); /* it is copied by words, see page.c */

/* A user who asks, as the kernel says. */
struct rules_user {
	uint32_t uid, gid;
	const uint32_t *groups; /* supplementary */
	uint32_t n_groups;
};

enum rule { RULE_NONE, RULE_SOCKET, RULE_GROUP, RULE_USERS, RULE_OWNER, RULES };

/* The rule by which the user may not connect, whatever the permissions of the socket; RULE_NONE. */
enum rule rules_broken(const struct rules *rules, const struct rules_user *user);

/* The same with these permissions, which for connecting are the kernel's to enforce. */
enum rule rules_broken_by_relay(const struct rules *rules, const struct rules_user *user);

/* "is not among the users who may connect to uncored" */
const char *rule_words(enum rule rule);
