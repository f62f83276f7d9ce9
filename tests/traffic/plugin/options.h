/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the plugin was told: KEY=VALUE behind its name in QEMU's -plugin. See ../README.md. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tests/traffic/counters.h"
#include "tests/traffic/plugin/cache.h"

struct options {
	const char *counters; /* a file; lives as long as the process */
	struct cache_shape l1, ll;
	uint64_t n_sockets;
	uint64_t cpus_per_socket;
	uint64_t n_channels; /* of each node */
	uint64_t n_sectors;
	uint64_t n_nodes; /* 0: not told */
	uint64_t node_bytes[TRAFFIC_NODES];
	uint64_t joined; /* the nodes are parts of one memory backend */
	uint64_t speci2m_percent;
	uint64_t adjacent;  /* the neighbour of a line that is fetched comes along */
	uint64_t user_only; /* the guest's kernel is not looked at */
	uint64_t wait;      /* for struct traffic_counters.wanted */
};

/* Says in a sentence on stderr what is wrong, and returns -EINVAL. */
int options_parse(int argc, char *argv[], bool is_system, struct options *ret);
