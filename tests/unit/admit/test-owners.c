/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/admit/owners.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macro.h"
#include "tests/harness/test.h"

static const char users[] = "root:x:0:0::/:\n"
			    "bob:x:1001:1001::/:\n"
			    "ann:x:1000:1000::/:\n"
			    "also-ann:x:1000:1000::/:\n"
			    "odd:x:100003:100003::/:\n";

static uint64_t block_of(uint32_t uid)
{
	return UINT64_C(1) << 32 | uid >> 16;
}

/* --- files in the place of this computer's --- */

static char folder[64], passwd_path[80], subuid_path[80];

static void write_file(const char *path, const char *text)
{
	_cleanup_file_ FILE *file = fopen(path, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
}

static struct owners begin(const char *passwd, const char *subuid)
{
	struct owners owners = { .passwd_path = passwd_path, .subuid_path = subuid_path };

	strcpy(folder, "/tmp/uncored-test-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(passwd_path, sizeof passwd_path, "%s/passwd", folder);
	snprintf(subuid_path, sizeof subuid_path, "%s/subuid", folder);
	write_file(passwd_path, passwd);
	write_file(subuid_path, subuid);
	owners_read(&owners);
	return owners;
}

static void end(struct owners *owners)
{
	unlink(subuid_path);
	unlink(passwd_path);
	rmdir(folder);
	owners_done(owners);
}

/* --- one question --- */

static uint64_t ask_both(const char *passwd, const char *subuid, uint32_t uid)
{
	struct owners owners = begin(passwd, subuid);
	uint64_t account = owners_account_of(&owners, uid);

	end(&owners);
	return account;
}

static uint64_t ask(const char *subuid, uint32_t uid)
{
	return ask_both(users, subuid, uid);
}

static void assert_nobodys(const char *subuid, uint32_t uid)
{
	assert_int_equal(ask(subuid, uid), uid);
}

static void assert_unsettled(const char *subuid, uint32_t uid)
{
	assert_int_equal(ask(subuid, uid), block_of(uid));
}

CASE("a range has one owner, from its first to its last")
{
	static const char text[] = "ann:100000:65536\nbob:165536:65536\n";

	assert_nobodys(text, 99999);
	assert_int_equal(ask(text, 100000), 1000);
	assert_int_equal(ask(text, 165535), 1000);
	assert_int_equal(ask(text, 165536), 1001);
	assert_int_equal(ask(text, 231071), 1001);
	assert_nobodys(text, 231072);
	assert_nobodys("\n", 4711);
}

CASE("a user of passwd is an account itself, also in a range of another user")
{
	assert_int_equal(ask("ann:100000:65536\n", 100003), 100003);
	assert_int_equal(ask("ann:100000:65536\nbob:100000:65536\n", 100003), 100003);
	assert_int_equal(ask("bob:1000:1\n", 1000), 1000);
	assert_int_equal(ask("ann:0:65536\n", 0), 0);
	assert_int_equal(ask_both("\n", "1000:0:65536\n", 0), 0);
}

CASE("overlapping ranges of two owners are their blocks'")
{
	static const char text[] = "ann:100000:65536\nbob:150000:65536\n";

	assert_int_equal(ask(text, 149999), 1000);
	assert_unsettled(text, 150000);
	assert_unsettled(text, 165535);
	assert_int_equal(ask(text, 165536), 1001);
	assert_int_equal(block_of(131072), block_of(196607));
	assert_int_not_equal(block_of(131071), block_of(131072));
}

CASE("overlapping ranges of one owner are that owner's")
{
	assert_int_equal(ask("ann:100000:10\nann:100005:10\n", 100007), 1000);
	assert_int_equal(ask("ann:100000:10\nalso-ann:100005:10\n1000:100000:20\n", 100007), 1000);
	assert_unsettled("ann:100000:10\nann:100000:10\nbob:100000:10\n", 100007);
}

CASE("an owner may be a number, if it is a uid")
{
	assert_int_equal(ask("1234:100000:10\n", 100000), 1234);
	assert_int_equal(ask("4294967294:100000:10\n", 100000), 4294967294);
	assert_int_equal(ask("0:100000:10\n", 100000), 0);
	assert_unsettled("4294967295:100000:10\n", 100000);
	assert_unsettled("4294968296:100000:10\n", 100000); /* 1000, and 2 to the power of 32 */
}

/* It may be a user of a directory service: nobody can say. */
CASE("a name that is not in passwd settles nothing")
{
	assert_unsettled("carol:100000:10\n", 100000);
	assert_unsettled("ann:100000:10\ncarol:100000:10\n", 100000);
	assert_unsettled("carol:100000:10\nann:100000:10\n", 100000);
	assert_int_equal(ask("carol:200000:10\nann:100000:10\n", 100000), 1000);
	assert_int_equal(ask_both("\n", "ann:100000:10\n", 100000), block_of(100000));
}

CASE("malformed lines are passed over")
{
	static const char *const bad[] = {
		"",
		"ann",
		"ann:",
		"ann:100000",
		"ann:100000:",
		"ann::10",
		":100000:10",
		"::",
		"ann:100000:ten",
		"ann:100000:10:10",
		"ann:100000:-1",
		"ann:-1:100010",
		"ann: 100000:10",
		"ann:+100000:10",
		"ann:0x186a0:10",
		"ann:100000:0",
		"ann:100000:18446744073709551616",
		"ann:18446744073709551616:10",
	};
	char text[256];

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		snprintf(text, sizeof text, "%s\n", bad[i]);
		assert_nobodys(text, 100000);
		snprintf(text, sizeof text, "%s\nbob:100000:10\n%s\n", bad[i], bad[i]);
		assert_int_equal(ask(text, 100000), 1001);
		/* passwd, too, passes over the lines that are not of its form */
		snprintf(text, sizeof text, "%s\nbob:x:1001:1001::/:\n%s\n", bad[i], bad[i]);
		assert_int_equal(ask_both(text, "bob:100000:10\n", 100000), 1001);
	}
}

/* The end of the line is not taken for a line of its own. */
CASE("a line that is too long is passed over to its end")
{
	for (size_t length = 400; length < 700; length++) {
		char text[800];

		memset(text, 'x', length);
		strcpy(text + length, "bob:100000:10\nann:200000:10\n");
		if (length + strlen("bob:100000:10\n") > 511)
			assert_nobodys(text, 100000);
		assert_int_equal(ask(text, 200000), 1000);
	}
}

CASE("the last line may lack its end")
{
	assert_int_equal(ask("bob:1:1\nann:100000:10", 100009), 1000);
	assert_nobodys("ann:100000:", 100000);
}

CASE("counts may be huge")
{
	assert_int_equal(ask("ann:100000:18446744073709551615\n", 4294967294), 1000);
	assert_nobodys("ann:100000:18446744073709551615\n", 99999);
	assert_int_equal(ask("ann:0:4294967296\n", 4294967295), 1000);
	assert_nobodys("ann:18446744073709551615:18446744073709551615\n", 100000);
}

CASE("a name that several uids of passwd have settles nothing")
{
	static const char text[] = "ann:x:1001:1001::/:\nann:x:1000:1000::/:\nbob:x:7:7::/:\n"
				   "ann:x:1000:1000::/:\nbob:x:7:7::/home:\n";

	assert_int_equal(ask_both(text, "ann:100000:10\n", 100000), block_of(100000));
	assert_int_equal(ask_both(text, "bob:100000:10\n", 100000), 7);
	assert_int_equal(ask_both(text, "ann:100000:10\n", 1000), 1000);
}

/* --- files that change --- */

static void pass(struct owners *owners, unsigned seconds)
{
	owners->looked_ns -= seconds * UINT64_C(1000000000);
}

CASE("files that have changed are read again, at most once in 10 s")
{
	struct owners owners = begin(users, "ann:100000:10\n");

	assert_int_equal(owners_account_of(&owners, 100000), 1000);
	owners.looked_ns = clock_now_ns() + 1000000000; /* however slow this computer is */
	write_file(subuid_path, "bob:100000:100\n");
	assert_int_equal(owners_account_of(&owners, 100000), 1000);
	pass(&owners, 11);
	assert_int_equal(owners_account_of(&owners, 100000), 1001);
	write_file(passwd_path, "bob:x:2002:2002::/:\n");
	pass(&owners, 11);
	assert_int_equal(owners_account_of(&owners, 100000), 2002);
	unlink(subuid_path);
	pass(&owners, 11);
	assert_int_equal(owners_account_of(&owners, 100000), 100000);
	write_file(subuid_path, "2003:100000:100\n");
	pass(&owners, 11);
	assert_int_equal(owners_account_of(&owners, 100000), 2003);
	end(&owners);
}

CASE("files that are the same are not read again")
{
	struct owners owners = begin(users, "ann:100000:10\n");

	owners.ranges[owners.n_users].owner = 4711; /* would be lost */
	pass(&owners, 11);
	assert_int_equal(owners_account_of(&owners, 100000), 4711);
	end(&owners);
}

CASE("a file that cannot be read leaves what was known")
{
	struct owners owners = begin(users, "ann:100000:10\n");

	owners.subuid_path = "/proc/self/mem/no-folder";
	owners_read(&owners);
	assert_int_equal(owners_account_of(&owners, 100000), 1000);
	owners.subuid_path = folder; /* can be opened */
	owners_read(&owners);
	assert_int_equal(owners_account_of(&owners, 100000), 1000);
	owners.subuid_path = subuid_path;
	write_file(subuid_path, "bob:100000:10\n");
	pass(&owners, 11);
	assert_int_equal(owners_account_of(&owners, 100000), 1001);
	end(&owners);
}
