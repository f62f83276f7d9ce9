/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/admit/owners.h"

#include <string.h>

#include "tests/harness/test.h"

enum { UNTOUCHED = 4711 };

/* "ann" and "also-ann" are 1000, "bob" is 1001. Other names are unknown. */
static bool find_uid(const char *name, uint32_t *ret)
{
	if (!strcmp(name, "ann") || !strcmp(name, "also-ann"))
		*ret = 1000;
	else if (!strcmp(name, "bob"))
		*ret = 1001;
	else
		return false;
	return true;
}

static enum subids_answer ask(const char *text, uint32_t uid, uint32_t *ret_owner)
{
	FILE *file = fmemopen((void *)text, strlen(text), "r");
	enum subids_answer answer;

	assert_non_null(file);
	*ret_owner = UNTOUCHED;
	answer = subids_owner_of(file, uid, find_uid, ret_owner);
	fclose(file);
	return answer;
}

static void assert_owner(const char *text, uint32_t uid, uint32_t wanted)
{
	uint32_t owner;

	assert_int_equal(ask(text, uid, &owner), SUBIDS_ONE);
	assert_int_equal(owner, wanted);
}

static void assert_nobody(const char *text, uint32_t uid)
{
	uint32_t owner;

	assert_int_equal(ask(text, uid, &owner), SUBIDS_NOBODY);
	assert_int_equal(owner, UNTOUCHED);
}

static void assert_several(const char *text, uint32_t uid)
{
	uint32_t owner;

	assert_int_equal(ask(text, uid, &owner), SUBIDS_SEVERAL);
}

CASE("a range has one owner, from its first to its last")
{
	static const char text[] = "ann:100000:65536\nbob:165536:65536\n";

	assert_nobody(text, 99999);
	assert_owner(text, 100000, 1000);
	assert_owner(text, 165535, 1000);
	assert_owner(text, 165536, 1001);
	assert_owner(text, 231071, 1001);
	assert_nobody(text, 231072);
	assert_nobody("\n", 0);
}

CASE("overlapping ranges of two have several")
{
	static const char text[] = "ann:100000:65536\nbob:150000:65536\n";

	assert_owner(text, 149999, 1000);
	assert_several(text, 150000);
	assert_several(text, 165535);
	assert_owner(text, 165536, 1001);
}

CASE("overlapping ranges of one have one")
{
	assert_owner("ann:100000:10\nann:100005:10\n", 100007, 1000);
	assert_owner("ann:100000:10\nalso-ann:100005:10\n1000:100000:20\n", 100007, 1000);
	assert_several("ann:100000:10\nann:100000:10\nbob:100000:10\n", 100007);
}

CASE("an owner may be a number, if it is a uid")
{
	assert_owner("1234:100000:10\n", 100000, 1234);
	assert_owner("4294967294:100000:10\n", 100000, 4294967294);
	assert_owner("0:100000:10\n", 100000, 0);
	assert_several("4294967295:100000:10\n", 100000);
	assert_several("4294968296:100000:10\n", 100000); /* 1000, and 2 to the power of 32 */
}

/* It may be a known user: nobody can say. */
CASE("a name that nobody knows settles nothing")
{
	assert_several("carol:100000:10\n", 100000);
	assert_several("ann:100000:10\ncarol:100000:10\n", 100000);
	assert_several("carol:100000:10\nann:100000:10\n", 100000);
	assert_owner("carol:200000:10\nann:100000:10\n", 100000, 1000);
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
		assert_nobody(text, 100000);
		snprintf(text, sizeof text, "%s\nbob:100000:10\n%s\n", bad[i], bad[i]);
		assert_owner(text, 100000, 1001);
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
			assert_nobody(text, 100000);
		assert_owner(text, 200000, 1000);
	}
}

CASE("the last line may lack its end")
{
	assert_owner("bob:1:1\nann:100000:10", 100009, 1000);
	assert_nobody("ann:100000:", 100000);
}

CASE("counts may be huge")
{
	assert_owner("ann:100000:18446744073709551615\n", 4294967294, 1000);
	assert_nobody("ann:100000:18446744073709551615\n", 99999);
	assert_owner("ann:0:4294967296\n", 4294967295, 1000);
	assert_nobody("ann:18446744073709551615:18446744073709551615\n", 100000);
}
