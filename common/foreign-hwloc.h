/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs, modules and launchers set variables that describe a machine to hwloc, maybe another one. */
#pragma once

#include <stddef.h>
#include <stdlib.h>

/* The variable that counts: they stand in the order in which hwloc looks (hwloc's documentation,
 * "Environment Variables"). NULL: none is set. */
static inline const char *foreign_hwloc_variable(void)
{
	static const char *const names[] = { "HWLOC_FSROOT", "HWLOC_CPUID_PATH", "HWLOC_SYNTHETIC",
		"HWLOC_XMLFILE", "HWLOC_COMPONENTS", "HWLOC_THISSYSTEM" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (getenv(names[i]))
			return names[i];
	return NULL;
}
