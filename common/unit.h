/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The units of metrics: how a value is written for people and for monitoring, and what may be done
 * with it. A client may meet a unit of a later uncored, which it takes as it is.
 */
#pragma once

#include <stdbool.h>
#include <string.h>

#define UNIT_BYTES "bytes"

enum { UNIT_STEPS = 7 };

/*
 * The site's key by which values are rounded down. A metric whose unit has no quantum would reveal
 * what the site hides, so it is absent while the quantum in bytes is set.
 */
enum unit_quantum { UNIT_NO_QUANTUM, UNIT_QUANTUM_BYTES, UNIT_QUANTUM_ENERGY };

struct unit {
	const char *name;
	const char *steps[UNIT_STEPS]; /* as text: each is 1000 of the one before; NULL: the end */
	const char *per_ns;            /* as text: the unit of 1 per ns */
	const char *total;             /* Prometheus: the end of a counter's name, in base units */
	const char *rate;              /* ClusterCockpit: the unit of a rate ... */
	double rate_factor;            /* ... and 1 per ns in it */
	bool is_nano;                  /* Prometheus' base unit is a billion of this one */
	bool is_sum;                   /* sockets may be added: not times, which run in parallel */
	enum unit_quantum quantum;
};

/* Never NULL. */
const struct unit *unit_of(const char *name);

static inline bool unit_is_bytes(const char *name)
{
	return strcmp(name, UNIT_BYTES) == 0;
}

/* The names of all units, separated by "|". */
extern const char unit_names[];
