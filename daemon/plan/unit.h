/* SPDX-License-Identifier: BSD-3-Clause */
/* The units that a metric of a platform file can have. Clients take any unit for a name. */
#pragma once

#include <stdbool.h>

#define UNIT_BYTES "bytes"

struct unit {
	const char *name;
	/*
	 * Values are rounded down to the site's quantum, which is in bytes. A metric of another
	 * unit cannot be rounded so, and would tell what the site hides: it is absent while there
	 * is a quantum.
	 */
	bool has_quantum;
};

/* NULL: there is no unit of that name. */
const struct unit *unit_find(const char *name);

/* The names of all units, separated by "|". */
extern const char unit_names[];
