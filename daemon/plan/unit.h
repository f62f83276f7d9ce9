/* SPDX-License-Identifier: BSD-3-Clause */
/* The units that a metric of a platform file can have. Clients accept any name of a unit. */
#pragma once

#include <stdbool.h>

#define UNIT_BYTES "bytes"

struct unit {
	const char *name;
	/*
	 * Values are rounded down to the site's quantum, which is in bytes. A metric in another
	 * unit cannot be rounded like this and would reveal what the site hides, so it is absent
	 * while a quantum is set.
	 */
	bool has_quantum;
};

/* NULL: there is no unit of that name. */
const struct unit *unit_find(const char *name);

/* The names of all units, separated by "|". */
extern const char unit_names[];
