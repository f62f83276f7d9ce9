/* SPDX-License-Identifier: BSD-3-Clause */
/* What all parts of one `uncore validate` share. */
#pragma once

#include "client/command/validate/measure/measure.h"
#include "client/command/validate/measure/tier.h"
#include "client/command/validate/options.h"

struct session {
	struct validate_options options;
	struct measure_rules rules;
	struct probe probe;
	struct places places;
	uint64_t limit_bytes; /* for all arrays, by the memory limit of this process's cgroup */
	bool shows_progress;
};

/* uncored's number of the socket with the CPUs of @place; UINT32_MAX: it reads no such socket. */
uint32_t session_socket(const struct session *session, const struct place *place);

/* The metrics in which the bytes of its memory should appear. */
struct tier session_tier(const struct session *session, const struct place *place);

/* Is the memory controller simulated? Then neither its bytes nor its times are those of this
 * machine. */
bool session_is_simulated(const struct session *session);

/* Does uncored run on the stand-in machine, with kernel counters as values? */
bool session_is_standin(const struct session *session);

/* Is the node one of those that the user wants? */
bool session_wants(const struct session *session, const struct place *place);

/* The caches of the CPUs of @place except the first level, as the machine or --cache says. */
uint64_t session_cache(const struct session *session, const struct place *place);

/*
 * Measures @kernel at @place with @n_threads; the arrays lie on the node of @memory. Prints a
 * sentence and returns negative errno if that cannot be done.
 */
struct session_run {
	const struct kernel *kernel;
	const struct place *place, *memory;
	unsigned n_threads;
	uint64_t number, halo;
};
int session_measure(struct session *session, const struct session_run *run, struct measured *ret);
