/* SPDX-License-Identifier: BSD-3-Clause */
/* What the library tells a program that reads for other users about those users. */
#include <errno.h>
#include <string.h>

#include "client/libuncore/uncore.h"
#include "common/macro.h"
#include "common/page.h"
#include "tests/harness/fake-daemon.h"
#include "tests/harness/test.h"

enum { ALICE = 1000, BOB = 1001, STAFF = 50, HPC = 60 };

static const struct rules everybody = { .socket.mode = 0666, .owner = RULES_NOBODY };
static const struct rules only_alice = { .socket.mode = 0666, .n_users = 1, .users = { ALICE } };
static const struct rules only_hpc = { .socket.mode = 0666, .by_group = 1, .group = HPC };
static const struct rules only_owner = { .socket.mode = 0666, .owner_only = 1, .owner = ALICE };
static const struct rules no_owner = {
	.socket.mode = 0666, .owner_only = 1, .owner = RULES_NOBODY
};
static const struct rules socket_of_hpc = { .socket.gid = HPC, .socket.mode = 0660 };
static const struct rules socket_of_alice = {
	.socket.uid = ALICE, .socket.gid = HPC, .socket.mode = 0060
};

static const uint32_t both[] = { STAFF, HPC };
static const struct uncore_user root = { 0, 0, 0, NULL }, alice = { ALICE, STAFF, 0, NULL },
				bob = { BOB, STAFF, 0, NULL }, bob_of_hpc = { BOB, STAFF, 2, both },
				bob_by_gid = { BOB, HPC, 0, NULL },
				alice_of_hpc = { ALICE, HPC, 0, NULL },
				unknown = { UNCORE_UNKNOWN_USER, UNCORE_UNKNOWN_USER, 0, NULL };

struct link {
	struct fake_daemon daemon;
	struct uncore *handle;
};

static void link_open(struct link *link, const struct fake_options *options)
{
	fake_daemon_start(&link->daemon, options, 1);
	assert_int_equal(uncore_open(link->daemon.path, &link->handle), 0);
}

static void link_close(struct link *link)
{
	uncore_close(link->handle);
	fake_daemon_stop(&link->daemon);
	fake_daemon_done(&link->daemon);
}

CASE("each user is told what the rules let him read himself")
{
	static const struct {
		const struct rules *rules;
		const struct uncore_user *user;
		const char *why_not;
	} rows[] = {
		{ &everybody, &root, NULL },
		{ &everybody, &alice, NULL },
		{ &everybody, &unknown, NULL },
		{ &only_alice, &alice, NULL },
		{ &only_alice, &bob, "User 1001 is not among the users" },
		{ &only_alice, &root,
			"Root may connect to uncored itself, but another program may read for root "
			"only if the rule lets root in as it lets in other users. The rule is "
			"users in [access] of uncored.conf; " },
		{ &only_alice, &unknown, "An unknown user is not among the users" },
		{ &only_hpc, &bob_of_hpc, NULL },
		{ &only_hpc, &bob_by_gid, NULL },
		{ &only_hpc, &bob, "is not in the group" },
		{ &only_hpc, &unknown, "is not in the group" },
		{ &only_owner, &alice, NULL },
		{ &only_owner, &bob, "does not own the job" },
		{ &no_owner, &alice, "does not own the job" },
		{ &no_owner, &unknown, "does not own the job" },
		{ &only_owner, &root, "The rule is owner_only in" },
		{ &socket_of_hpc, &bob_of_hpc, NULL },
		{ &socket_of_hpc, &root, NULL }, /* the file is root's */
		{ &socket_of_hpc, &bob, "by the permissions of its socket. The rule is mode in" },
		{ &socket_of_hpc, &unknown, "by the permissions of its socket" },
		/* The first class that fits decides, as for every file. */
		{ &socket_of_alice, &alice_of_hpc, "by the permissions of its socket" },
	};
	struct link link;

	link_open(&link, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		page_rules_write(link.daemon.rules, rows[i].rules);
		assert_int_equal(
			uncore_admits(link.handle, rows[i].user), rows[i].why_not ? -EACCES : 0);
		if (rows[i].why_not)
			assert_non_null(strstr(uncore_error_text(), rows[i].why_not));
	}
	link_close(&link);
}

CASE("rules that cannot be read admit nobody")
{
	struct rules too_many = { .socket.mode = 0666, .n_users = RULES_USERS_MAX + 1 };
	struct link link;

	link_open(&link, NULL);
	page_rules_write(link.daemon.rules, &too_many);
	assert_int_equal(uncore_admits(link.handle, &alice), -EBADMSG);
	link.daemon.rules->lock |= 1; /* it is killed while it writes */
	assert_int_equal(uncore_admits(link.handle, &alice), -EAGAIN);
	link.daemon.rules->lock = 0;
	assert_int_equal(uncore_admits(link.handle, &alice), -EAGAIN);
	link_close(&link);
}

CASE("a question that cannot be asked is refused with a sentence")
{
	const struct uncore_user no_list = { .uid = ALICE, .n_groups = 1 };
	struct link link;

	link_open(&link, NULL);
	assert_int_equal(uncore_admits(NULL, &alice), -EINVAL);
	assert_int_equal(uncore_admits(link.handle, NULL), -EINVAL);
	assert_int_equal(uncore_admits(link.handle, &no_list), -EINVAL);
	assert_non_null(strstr(uncore_error_text(), "not told which user"));
	link_close(&link);
}
