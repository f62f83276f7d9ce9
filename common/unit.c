/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/unit.h"

#include "common/macro.h"

/* Rates: github.com/ClusterCockpit/cc-units, ccUnitMeasure.go. The last row is any other unit. */
static const struct unit units[] = {
	{ UNIT_BYTES, { "B", "KB", "MB", "GB", "TB", "PB", "EB" }, "GB/s", "bytes_total", "MB/s",
		1e3, .is_sum = true, .quantum = UNIT_QUANTUM_BYTES },
	{ "ns", { "ns", "us", "ms", "s" }, "ns/ns", "seconds_total", "s/s", 1, .is_nano = true },
	{ "nJ", { "nJ", "uJ", "mJ", "J", "kJ", "MJ", "GJ" }, "W", "joules_total", "W", 1,
		.is_nano = true, .is_sum = true, .quantum = UNIT_QUANTUM_ENERGY },
	{ "count", { "", "K", "M", "G", "T", "P", "E" }, "G/s", "total", "events/s", 1e9,
		.is_sum = true },
	{ "", { "", "K", "M", "G", "T", "P", "E" }, "1/ns", "total", "1/s", 1e9 },
};

const char unit_names[] = UNIT_BYTES "|ns|nJ|count";

const struct unit *unit_of(const char *name)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(units) - 1 && strcmp(units[i].name, name) != 0)
		i++;
	return &units[i];
}
