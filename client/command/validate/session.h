/* SPDX-License-Identifier: BSD-3-Clause */
/* What all parts of one `uncore validate` share. */
#pragma once

#include "client/command/page/page.h"
#include "client/command/validate/measure/measure.h"
#include "client/command/validate/measure/shape.h"
#include "client/command/validate/options.h"
#include "client/records/json.h"

struct session {
	struct validate_options options;
	struct measure_rules rules;
	struct probe probe;
	struct json_document document;
	const struct json_value
		*info;             /* what uncored says of itself, in .document; NULL: nothing */
	struct places places;      /* those that the user wants */
	struct judged_node *nodes; /* those of .places, as they are judged */
	unsigned n_nodes;
	uint64_t limit_bytes; /* for all arrays, by the memory limit of this process's cgroup */
	bool shows_progress;
	struct page page;
	struct written report; /* of options.report; .out NULL: not wanted */
};

/* uncored's number of the socket with the CPUs of @place; UINT32_MAX: it reads no such socket. */
uint32_t session_socket(const struct session *session, const struct place *place);

/* The metrics in which the bytes of its memory should appear. */
struct tier session_tier(const struct session *session, const struct place *place);

/*
 * What @metric never contains on machines of this kind, by their platform file. NULL: nothing, or
 * more is missing on @socket.
 */
const char *session_never(const struct session *session, const char *metric, uint32_t socket);

/* Is the memory controller simulated? Then neither its bytes nor its times are those of this
 * machine. */
bool session_is_simulated(const struct session *session);

/* The caches of the CPUs of @place except the first level, as the machine or --cache says. */
uint64_t session_cache(const struct session *session, const struct place *place);

/*
 * Measures @job, of which the caller chooses the kernel, both places, the threads and the sizes;
 * the rest is the session's. Prints a sentence and returns negative errno if that cannot be done.
 */
int session_measure(struct session *session, const struct workers_job *job, struct measured *ret);
