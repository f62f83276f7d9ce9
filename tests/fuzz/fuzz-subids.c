/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any /etc/subuid: a uid has no owner, one owner, whose number is told, or several owners. An owner
 * whose name begins with "u" is known; its number is the number of letters in its name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"
#include "daemon/admit/owners.h"
#include "tests/fuzz/target.h"

static bool find_uid(const char *name, uint32_t *ret)
{
	*ret = (uint32_t)strlen(name);
	return *name == 'u';
}

static enum subids_answer ask(const uint8_t *data, size_t size_bytes, uint32_t uid)
{
	_cleanup_file_ FILE *file = fmemopen((void *)data, size_bytes, "r");
	const uint32_t untouched = UINT32_MAX;
	uint32_t owner = untouched;
	enum subids_answer answer;

	if (!file)
		abort();
	answer = subids_owner_of(file, uid, find_uid, &owner);
	if (answer > SUBIDS_SEVERAL || (answer == SUBIDS_ONE && owner == untouched) ||
		(answer == SUBIDS_NOBODY && owner != untouched))
		abort();
	return answer;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	static const uint32_t uids[] = { 0, 1000, 99999, 100000, 100001, 165535, 165536,
		UINT32_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(uids); i++)
		ask(data, size_bytes, uids[i]);
	if (ask(data, 0, 100000) != SUBIDS_NOBODY)
		abort();
	return 0;
}
