/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/traffic/plugin/isa.h"

#include <string.h>

#include "common/macro.h"

const struct isa *isa_find(const char *target)
{
	static const struct isa *const all[] = { &isa_power, &isa_x86 };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		for (size_t k = 0; k < ISA_TARGETS_MAX && all[i]->targets[k]; k++)
			if (strcmp(all[i]->targets[k], target) == 0)
				return all[i];
	return NULL;
}
