/* SPDX-License-Identifier: BSD-3-Clause */
/* Which users may connect, and the words of refusals, without a daemon. */
#include "daemon/site/policy.h"
#include "tests/harness/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/macro.h"

enum { ALICE = 1000, BOB = 1001, STAFF = 50, HPC = 60 };

static const struct policy_access only_alice = {
	.n_users = 1, .users = { ALICE }, .users_text = "alice"
};
static const struct policy_access only_hpc = {
	.by_group = true, .group = HPC, .group_text = "hpc"
};
static const struct policy_disclosure exact = { .quantum = 1, .quantum_energy = 1 };

static struct policy_refusal refusal;

CASE("root may always connect")
{
	const struct rules_user root = { .uid = 0 };
	struct policy_access access = only_alice;

	access.by_group = true;
	access.group = HPC;
	assert_true(policy_admits(&access, POLICY_NO_OWNER, &root, &refusal));
}

CASE("without lists everybody may connect")
{
	const struct policy_access any = {};

	assert_true(
		policy_admits(&any, POLICY_NO_OWNER, &(struct rules_user){ .uid = BOB }, &refusal));
}

CASE("a list of users lets those in and no others")
{
	assert_true(policy_admits(
		&only_alice, POLICY_NO_OWNER, &(struct rules_user){ .uid = ALICE }, &refusal));
	assert_false(policy_admits(
		&only_alice, POLICY_NO_OWNER, &(struct rules_user){ .uid = BOB }, &refusal));
	assert_int_equal(refusal.rule, POLICY_USERS);
	assert_int_equal(refusal.error, -EACCES);
	assert_string_equal(refusal.text,
		"User 1001 is not among the users who may connect to uncored. The rule is users in "
		"[access] of uncored.conf; the administrator of this node can change it.");
}

CASE("where only the owner of the job may connect, nobody else but root may")
{
	const struct policy_access owner_only = { .owner_only = true };
	const struct rules_user alice = { .uid = ALICE }, root = { .uid = 0 },
				nobody_at_all = { .uid = POLICY_NO_OWNER };

	assert_true(policy_admits(&owner_only, ALICE, &alice, &refusal));
	assert_true(policy_admits(&owner_only, ALICE, &root, &refusal));
	assert_false(policy_admits(&owner_only, POLICY_NO_OWNER, &alice, &refusal));
	assert_false(policy_admits(&owner_only, POLICY_NO_OWNER, &nobody_at_all, &refusal));
	assert_false(policy_admits(&owner_only, BOB, &alice, &refusal));
	assert_int_equal(refusal.rule, POLICY_OWNER);
	assert_int_equal(refusal.error, -EACCES);
	assert_string_equal(refusal.text,
		"User 1000 does not own the job that this node runs. The rule is owner_only in "
		"[access] of uncored.conf; the administrator of this node can change it, or make "
		"this user the owner with `uncore owner`.");
	/* Without the key the owner of the job does not matter. */
	assert_true(policy_admits(&(struct policy_access){}, BOB, &alice, &refusal));
}

CASE("a group lets its members in, by any of their groups")
{
	const uint32_t groups[] = { STAFF, HPC };

	assert_true(policy_admits(&only_hpc, POLICY_NO_OWNER,
		&(struct rules_user){ .uid = BOB, .gid = HPC }, &refusal));
	assert_true(policy_admits(&only_hpc, POLICY_NO_OWNER,
		&(struct rules_user){ .uid = BOB, .gid = STAFF, .groups = groups, .n_groups = 2 },
		&refusal));
	assert_false(policy_admits(&only_hpc, POLICY_NO_OWNER,
		&(struct rules_user){ .uid = BOB, .gid = STAFF, .groups = groups, .n_groups = 1 },
		&refusal));
	assert_int_equal(refusal.rule, POLICY_GROUP);
	assert_non_null(strstr(refusal.text, "group in [access] of uncored.conf"));
}

CASE("with users and a group both must hold")
{
	struct policy_access access = only_alice;

	access.by_group = true;
	access.group = HPC;
	assert_false(policy_admits(&access, POLICY_NO_OWNER,
		&(struct rules_user){ .uid = ALICE, .gid = STAFF }, &refusal));
	assert_int_equal(refusal.rule, POLICY_GROUP);
	assert_false(policy_admits(&access, POLICY_NO_OWNER,
		&(struct rules_user){ .uid = BOB, .gid = HPC }, &refusal));
	assert_int_equal(refusal.rule, POLICY_USERS);
	assert_true(policy_admits(&access, POLICY_NO_OWNER,
		&(struct rules_user){ .uid = ALICE, .gid = HPC }, &refusal));
}

CASE("a refusal by a quota names the quota that is full")
{
	struct policy_load load = { .n = 2, .most = 4, .n_of_user = 1, .most_of_user = 2 };

	assert_true(policy_has_room(&load, BOB, &refusal));
	load.n_of_user = 2;
	assert_false(policy_has_room(&load, BOB, &refusal));
	assert_int_equal(refusal.rule, POLICY_CLIENTS_PER_USER);
	assert_int_equal(refusal.error, -EDQUOT);
	load.n = 3;
	assert_false(policy_has_room(&load, BOB, &refusal));
	assert_int_equal(refusal.rule, POLICY_CLIENTS);
	/* The last place is reserved for root. */
	load.n_of_user = 0;
	assert_true(policy_has_room(&load, 0, &refusal));
	load.n = 4;
	assert_false(policy_has_room(&load, 0, &refusal));
	assert_int_equal(refusal.rule, POLICY_CLIENTS);
}

CASE("every rule has a name and an error, and says who can change it")
{
	for (unsigned rule = 0; rule < POLICY_RULES; rule++) {
		assert_non_null(strchr(policy_rule_name(rule), '.'));
		for (unsigned other = 0; other < rule; other++)
			assert_string_not_equal(policy_rule_name(rule), policy_rule_name(other));
		policy_refuse(&refusal, rule, "Something happened.");
		assert_int_equal(refusal.rule, rule);
		assert_true(refusal.error < 0);
		assert_ptr_equal(strstr(refusal.text, "Something happened. "), refusal.text);
		assert_int_equal(refusal.text[strlen(refusal.text) - 1], '.');
		assert_true(strstr(refusal.text, "administrator of this node can ") ||
			    strstr(refusal.text, "libuncore") || strstr(refusal.text, "client."));
	}
}

CASE("a long account of what happened is cut, but never who can change it")
{
	char flood[WIRE_TEXT_MAX];

	memset(flood, 'x', sizeof flood - 1);
	flood[sizeof flood - 1] = '\0';
	policy_refuse(&refusal, POLICY_USERS, "%s", flood);
	assert_int_equal(strlen(refusal.text), WIRE_TEXT_MAX - 1);
	assert_non_null(strstr(refusal.text, "x The rule is users in [access]"));
}

CASE("the longer interval is how long a ring may be held")
{
	assert_int_equal(policy_hold_ns(&exact), 0);
	assert_int_equal(policy_hold_ns(&(struct policy_disclosure){ 5, 0, 1 }), 5000000);
	assert_int_equal(policy_hold_ns(&(struct policy_disclosure){ 5, 60000, 1 }), 60000000000);
}

static void describes(const struct policy_access *access,
	const struct policy_disclosure *disclosure, bool others, const char *expected)
{
	char text[POLICY_WORDS_MAX];

	policy_describe(access, POLICY_NO_OWNER, disclosure, others, text);
	assert_string_equal(text, expected);
}

CASE("the policy says in words who may connect and what is told")
{
	const struct policy_access any = {};
	struct policy_access both = only_alice;

	both.by_group = true;
	strcpy(both.group_text, "hpc");
	describes(&any, &exact, true,
		"Nothing is restricted: everybody on this node may connect and is told exact "
		"values as of any time.");
	describes(&any, &exact, false,
		"Root may connect, and those that the permissions of the socket admit.");
	describes(&only_hpc, &exact, true, "Root may connect, and the members of group hpc.");
	describes(&only_alice, &exact, false,
		"Root may connect, and the users alice that the permissions of the socket admit.");
	describes(&both, &exact, true,
		"Root may connect, and those of the users alice who are in group hpc.");
	describes(&any, &(struct policy_disclosure){ 10, 100, 4096 }, true,
		"Root may connect, and everybody. A socket is read at most once in 10 ms. One user "
		"can have it read at most once in 100 ms. Values are rounded down to multiples of "
		"4096 bytes.");
	describes(&any, &(struct policy_disclosure){ .quantum = 1, .quantum_energy = 1000000 },
		true,
		"Root may connect, and everybody. Energy is rounded down to multiples of 1000000 "
		"nJ.");
}
