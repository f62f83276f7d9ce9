/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/papers/runner/moved.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "client/libuncore/uncore.h"
#include "common/macro.h"
#include "tests/traffic/counts.h"

static const struct metric {
	enum traffic_kind kind;
	const char *name;
} metrics[] = {
	{ TRAFFIC_READ, "dram.read" },
	{ TRAFFIC_READ, "hbm.read" },
	{ TRAFFIC_WRITE, "dram.write" },
	{ TRAFFIC_WRITE, "hbm.write" },
	{ TRAFFIC_ITOM, "itom" },
	{ TRAFFIC_SPECITOM, "specitom" },
};

static struct uncore *handle; /* NULL: a simulator's counts are read */
static struct uncore_machine machine = UNCORE_MACHINE_INIT;

void moved_open(void)
{
	if (counts_open())
		return;
	if (uncore_open(NULL, &handle) < 0 || uncore_describe(handle, &machine) < 0)
		errx(EXIT_FAILURE, "%s", uncore_error_text());
}

static void read_uncored(uint64_t ret_bytes[TRAFFIC_KINDS])
{
	_cleanup_free_ struct uncore_sample *samples = calloc(machine.n_sockets, sizeof *samples);

	if (!samples)
		err(EXIT_FAILURE, "No memory for a reading");
	for (uint32_t socket = 0; socket < machine.n_sockets; socket++)
		samples[socket].size = sizeof *samples;
	if (uncore_read_all(handle, UNCORE_FRESH, samples, machine.n_sockets) < 0)
		errx(EXIT_FAILURE, "%s", uncore_error_text());
	memset(ret_bytes, 0, TRAFFIC_KINDS * sizeof *ret_bytes);
	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++) {
		int metric = uncore_find_metric(handle, metrics[i].name);

		for (uint32_t socket = 0; metric >= 0 && socket < machine.n_sockets; socket++)
			if (!(samples[socket].values[metric].quality & UNCORE_ABSENT))
				ret_bytes[metrics[i].kind] += samples[socket].values[metric].count;
	}
}

void moved_read(struct moved *moved, enum moved_when when)
{
	if (handle)
		read_uncored(moved->bytes[when]);
	else
		counts_read(&moved->simulated[when]);
}

uint64_t moved_between(const struct moved *moved, enum traffic_kind kind)
{
	if (!handle)
		return counts_bytes(moved->simulated, TRAFFIC_NODES, kind);
	return moved->bytes[MOVED_AFTER][kind] - moved->bytes[MOVED_BEFORE][kind];
}

void moved_begin(const char *name)
{
	if (handle && uncore_region_begin(name) < 0)
		warnx("%s", uncore_error_text());
}

void moved_end(const char *name)
{
	if (handle && uncore_region_end(name) < 0)
		warnx("%s", uncore_error_text());
}
