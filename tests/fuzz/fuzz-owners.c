/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any /etc/subuid, and behind a zero byte any /etc/passwd: without it, users whose names are some
 * letters "u". Each uid belongs to itself, to an owner whose number is in one of the files, or to
 * its block; a user of passwd belongs to itself.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"
#include "daemon/admit/owners.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"

static const uint8_t usual[] = "u:x:1:1::/:\nuuu:x:3:3::/:\nuu:x:2:2::/:\n";

static bool is_owner(const struct owners *owners, uint64_t account)
{
	for (unsigned i = owners->n_users; i < owners->n; i++)
		if (owners->ranges[i].is_known && owners->ranges[i].owner == account)
			return true;
	return false;
}

static void check(struct owners *owners, uint32_t uid)
{
	uint64_t account = owners_account_of(owners, uid);

	if (account != uid && account != (UINT64_C(1) << 32 | uid >> 16) &&
		!is_owner(owners, account))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	static const uint32_t uids[] = { 0, 1000, 99999, 100000, 100001, 165535, 165536,
		UINT32_MAX };
	const uint8_t *zero = size_bytes ? memchr(data, 0, size_bytes) : NULL;
	size_t subuid_bytes = zero ? (size_t)(zero - data) : size_bytes;
	char passwd_path[PATH_MAX], subuid_path[PATH_MAX];
	struct owners owners = { .passwd_path = passwd_path, .subuid_path = subuid_path };

	strcpy(passwd_path, scratch_write("passwd", usual, sizeof usual - 1));
	strcpy(subuid_path, scratch_write("subuid", data, subuid_bytes));
	owners_read(&owners);
	if (zero) {
		scratch_write("passwd", zero + 1, size_bytes - subuid_bytes - 1);
		owners.looked_ns = 0; /* so that it looks whether they have changed */
	}
	for (size_t i = 0; i < ARRAY_SIZE(uids); i++)
		check(&owners, uids[i]);
	for (unsigned i = 0; i < owners.n_users; i++)
		if (owners_account_of(&owners, (uint32_t)owners.ranges[i].first) !=
			owners.ranges[i].first)
			abort();
	owners_done(&owners);
	return 0;
}
