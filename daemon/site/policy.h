/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The policy of the site: the rules of access, the disclosure of values, and the sentence of each
 * refusal. The decisions are pure functions: callers pass all that they depend on.
 *
 * A rule that decides on access is a row of checks[] in common/rules.c. For a rule that is checked
 * later, the code calls policy_refuse(). Every refusal is counted under its rule (server.h), and
 * its sentence ends with the place of the rule and who can change it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/rules.h"
#include "common/wire.h"

enum {
	POLICY_USERS_MAX = RULES_USERS_MAX,
	POLICY_NAME_MAX = 256,               /* bytes of a user's or group's name, with its NUL */
	POLICY_TEXT_MAX = 4096,              /* all users, as uncored.conf has them */
	POLICY_WORDS_MAX = 4096 + 512 + 512, /* policy_describe() */
};

enum policy_rule {
	POLICY_GROUP,
	POLICY_USERS,
	POLICY_OWNER,
	POLICY_CLIENTS,
	POLICY_CLIENTS_PER_USER,
	POLICY_CLOSING,
	POLICY_DESCRIPTORS,
	POLICY_VERSION,
	POLICY_ORDER,
	POLICY_REQUEST,
	POLICY_TOPIC,
	POLICY_MESSAGE,
	POLICY_ROOT,
	POLICY_REPORT,
	POLICY_PAGE,
	POLICY_TEAMS,
	POLICY_TABLE,
	POLICY_RULES
};

/* [access], except for the permissions of the socket, which the kernel enforces. */
struct policy_access {
	bool owner_only; /* the owner of the node's job, and root */
	bool by_group;
	uint32_t group;
	unsigned n_users; /* 0: any */
	uint32_t users[POLICY_USERS_MAX];
	char group_text[POLICY_NAME_MAX], users_text[POLICY_TEXT_MAX]; /* as in uncored.conf */
};

/* [disclosure] */
struct policy_disclosure {
	uint32_t min_interval_ms;          /* between two sweeps of a socket */
	uint32_t min_interval_per_user_ms; /* between two sweeps that rings of one user cause */
	uint32_t quantum;                  /* bytes that values are rounded down to */
	uint32_t quantum_energy;           /* nJ that energy is rounded down to */
};

/* Numbers of connections, and their limits. */
struct policy_load {
	unsigned n, most, n_of_user, most_of_user;
};

struct policy_refusal {
	enum policy_rule rule;
	int error; /* negative errno */
	char text[WIRE_TEXT_MAX];
};

/* The owner if the node runs no job: a uid that no user has, like LEDGER_NO_OWNER. */
enum { POLICY_NO_OWNER = RULES_NOBODY };

/* May this peer connect, while the node runs a job of @owner? False: *ret says why not. Root may
 * always connect. */
bool policy_admits(const struct policy_access *access, uint32_t owner,
	const struct rules_user *peer, struct policy_refusal *ret);

/* The rules to be published, except for the file of the socket. */
void policy_rules(const struct policy_access *access, uint32_t owner, struct rules *ret);

/* Do rules, apart from the permissions of the socket, keep anybody from connecting? */
bool policy_is_selective(const struct policy_access *access);

/* Is there room for another connection of @uid? False: *ret says why not. */
bool policy_has_room(const struct policy_load *load, uint32_t uid, struct policy_refusal *ret);

/* Fills *ret with the sentence of @format, cut to fit, then the rule and who can change it. */
void policy_refuse(struct policy_refusal *ret, enum policy_rule rule, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The name that refusals are counted under, such as "access.users". */
const char *policy_rule_name(enum policy_rule rule);

/* The longest time by which the intervals may delay a ring. */
uint64_t policy_hold_ns(const struct policy_disclosure *disclosure);

/* Is anything withheld from anybody? @others_may_connect: as the socket's permissions say. */
bool policy_restricts(const struct policy_access *access,
	const struct policy_disclosure *disclosure, bool others_may_connect);

/* Writes the rules of access and disclosure, in words. */
void policy_describe(const struct policy_access *access, uint32_t owner,
	const struct policy_disclosure *disclosure, bool others_may_connect,
	char ret_text[POLICY_WORDS_MAX]);
