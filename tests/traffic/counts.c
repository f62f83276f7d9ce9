/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/traffic/counts.h"

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int counts_fd = -1;

bool counts_open(void)
{
	const char *path = getenv("TRAFFIC_COUNTERS");

	if (!path)
		return false;
	counts_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (counts_fd < 0)
		err(1, "The counts in %s cannot be read", path);
	return true;
}

void counts_read(struct traffic_counters *ret)
{
	if (counts_fd >= 0 && pread(counts_fd, ret, sizeof *ret, 0) != sizeof *ret)
		errx(1, "The file of the counts is too short.");
}

uint64_t counts_bytes(
	const struct traffic_counters readings[2], unsigned node, enum traffic_kind kind)
{
	uint64_t lines = 0;

	for (unsigned i = 0; i < TRAFFIC_NODES; i++)
		for (unsigned k = 0; (i == node || node == TRAFFIC_NODES) && k < TRAFFIC_CHANNELS;
			k++)
			lines += readings[1].lines[i][kind][k] - readings[0].lines[i][kind][k];
	return lines * TRAFFIC_LINE_BYTES;
}

void counts_print(const struct traffic_counters readings[2], unsigned node)
{
	static const char *const names[] = { "read", "write", "itom", "specitom" };

	for (unsigned kind = 0; kind < TRAFFIC_KINDS; kind++)
		printf("%s\"%s\": %" PRIu64, kind ? ", " : "", names[kind],
			counts_bytes(readings, node, kind));
}
