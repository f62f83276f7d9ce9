/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/measure/tier.h"

#include <stdio.h>
#include <string.h>

#include "common/macro.h"
#include "common/tiers.h"

#define MAY_BE_A_NODE(tier)                                                                        \
	{                                                                                          \
		2, { { tier ".read", SHAPE_READS }, { tier ".write", SHAPE_WRITES } }, true        \
	}

const struct tier *tier_nth(size_t i)
{
	static const struct tier tiers[] = {
		{ 2, { { "dram.read", SHAPE_READS }, { "dram.write", SHAPE_WRITES } }, false },
		{ 1, { { "dram.total", SHAPE_BOTH } }, false },
		TIERS_BESIDE_DRAM(MAY_BE_A_NODE),
	};

	return i < ARRAY_SIZE(tiers) ? &tiers[i] : NULL;
}

void tier_names(const struct tier *tier, char ret[TIER_NAMES_BYTES])
{
	size_t used = 0;

	*ret = '\0';
	for (unsigned i = 0; i < tier->n && used < TIER_NAMES_BYTES; i++)
		used += (size_t)snprintf(ret + used, TIER_NAMES_BYTES - used, "%s%s",
			i ? " and " : "", tier->metric[i].name);
}

bool tier_has(const struct tier *tier, const char *name)
{
	for (unsigned i = 0; i < tier->n; i++)
		if (strcmp(tier->metric[i].name, name) == 0)
			return true;
	return false;
}
