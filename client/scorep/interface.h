/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How Score-P takes metrics from a library: version 1 of its interface, as Score-P 8.4 has it.
 * Names are ours; the numbers, the order of members and their sizes are Score-P's.
 *
 * Score-P opens lib@NAME@.so, calls SCOREP_MetricPlugin_@NAME@_get_info(), and then what this
 * returns: take_clock, initialize; list for each word of the environment variable
 * SCOREP_METRIC_@NAME@ (in capitals); add for each metric, once for each thread that records;
 * synchronize at the begin (in MPI programs: at the end of MPI_Init) and at the end; and finalize.
 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

enum { SCOREP_INTERFACE = 1, SCOREP_METRICS_MAX = 255 };
enum { SCOREP_PER_THREAD = 0, SCOREP_PER_HOST = 2 }; /* who records */
/* At each event; or whenever the plugin likes, and handed over at the end. Score-P only takes
 * SCOREP_PER_THREAD with the first, and has only the first in profiles. */
enum { SCOREP_STRICTLY_SYNCHRONOUS = 0, SCOREP_ASYNCHRONOUS = 3 };
enum { SCOREP_COUNTED_FROM_START = 0, SCOREP_UINT64 = 1, SCOREP_DECIMAL = 1 };
enum { SCOREP_BEGIN = 0, SCOREP_BEGIN_MPI = 1, SCOREP_END = 2 };

/* Score-P frees name and the list; a list ends with a name of NULL. */
struct scorep_metric {
	char *name, *description;
	uint32_t mode, type, base;
	int64_t exponent;
	char *unit;
};

struct scorep_pair {
	uint64_t time; /* by Score-P's clock */
	uint64_t value;
};

struct scorep_plugin {
	uint32_t interface, recorder, timing;
	uint64_t least_ticks; /* between two calls of read_all */
	int32_t (*initialize)(void);
	void (*finalize)(void);
	struct scorep_metric *(*list)(char *token);
	int32_t (*add)(char *name);   /* an id, or < 0 */
	uint64_t (*read)(int32_t id); /* SCOREP_STRICTLY_SYNCHRONOUS */
	bool (*read_or_not)(int32_t id, uint64_t *ret_value);
	void (*take_clock)(uint64_t (*clock)(void));
	/* SCOREP_ASYNCHRONOUS. Returns the number of pairs; Score-P frees them. */
	uint64_t (*read_all)(int32_t id, struct scorep_pair **ret_pairs);
	void (*synchronize)(bool records, uint32_t when);
	uint64_t reserved[92];
};

#if UINTPTR_MAX == UINT64_MAX
static_assert(sizeof(struct scorep_metric) == 48, "Score-P's size");
static_assert(sizeof(struct scorep_plugin) == 832, "Score-P's size");
#endif
