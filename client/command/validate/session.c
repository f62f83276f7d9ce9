/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/command/frame/parts.h"
#include "common/bounds.h"

static const uint64_t CACHE_UNKNOWN = 32 << 20; /* if the machine does not report its caches */

uint32_t session_socket(const struct session *session, const struct place *place)
{
	return parts_socket(session->probe.reader.handle, (int)place->package);
}

/* Does the platform count the tier on this socket? */
static bool has_tier(const struct session *session, uint32_t socket, const struct tier *tier)
{
	for (unsigned i = 0; i < tier->n; i++)
		if (probe_has(&session->probe,
			    probe_find(&session->probe, socket, tier->metric[i].name)))
			return true;
	return false;
}

/* Memory without CPUs is HBM in flat mode, or persistent memory. */
struct tier session_tier(const struct session *session, const struct place *place)
{
	static const struct tier none = { 0 };
	uint32_t socket = session_socket(session, place);
	const struct tier *tier;

	for (size_t i = 0; (tier = tier_nth(i)); i++)
		if ((tier->can_be_a_node || !place->memory_only) && has_tier(session, socket, tier))
			return *tier;
	return place->memory_only ? none : *tier_nth(0);
}

const char *session_never(const struct session *session, const char *metric, uint32_t socket)
{
	JSON_EACH (json_list(session->info, "metrics"), described) {
		const char *partial = json_text(described, "partial", "");

		if (!*partial || strcmp(json_text(described, "name", ""), metric) != 0)
			continue;
		JSON_EACH (json_list(described, "sockets"), on)
			if (json_number(on, "socket") == socket &&
				strcmp(json_text(on, "why", ""), partial) == 0)
				return partial;
	}
	return NULL;
}

bool session_is_simulated(const struct session *session)
{
	return strcmp(session->probe.reader.machine.platform, "simulated") == 0;
}

uint64_t session_cache(const struct session *session, const struct place *place)
{
	if (session->options.cache_bytes)
		return session->options.cache_bytes;
	return place->cache_bytes ? place->cache_bytes : CACHE_UNKNOWN;
}

/* Half of what is free. The rest is for others, which would be swapped out otherwise. */
static uint64_t most_bytes(const struct session *session, const struct place *memory)
{
	return least_of(memory->free_bytes, session->limit_bytes) / 2;
}

static void session_complain(const struct workers_job *job, int error)
{
	const char *name = job->kernel->name;

	fprintf(stderr, "uncore validate: ");
	if (error == -EINTR)
		fprintf(stderr, "interrupted.\n");
	else if (error == -ENOMEM)
		fprintf(stderr,
			"the arrays of %s, with %u thread%s, need more than the %" PRIu64
			" MB that may be used on node %u: half of what is free there, or of what "
			"the limit of this cgroup leaves. Take fewer threads, or a smaller --size "
			"or --cache.\n",
			name, job->n_threads, job->n_threads > 1 ? "s" : "",
			job->most_bytes / 1000000, job->memory->node);
	else if (error == -EXDEV)
		fprintf(stderr,
			"the kernel refuses to bind threads to the CPUs of node %u, or memory to "
			"node %u. Is there a cpuset that leaves them out?\n",
			job->place->node, job->memory->node);
	else if (error == -EAGAIN)
		fprintf(stderr, "cannot start %u threads: %s.\n", job->n_threads, strerror(EAGAIN));
	else if (error == -ESTALE)
		fprintf(stderr,
			"uncored was restarted and lost its counts while %s was measured.\n", name);
	else
		fprintf(stderr, "%s\n", uncore_error_text());
}

int session_measure(struct session *session, const struct workers_job *job, struct measured *ret)
{
	struct workers_job whole = *job;
	int r;

	whole.topology = session->places.topology;
	whole.cache_bytes = session_cache(session, job->place);
	whole.stop = session->rules.stop;
	whole.most_bytes = most_bytes(session, job->memory);
	if (session->shows_progress)
		fprintf(stderr, "node %u: %s, %u thread%s, memory of node %u\n", job->place->node,
			job->kernel->name, job->n_threads, job->n_threads > 1 ? "s" : "",
			job->memory->node);
	r = measure(&session->probe, &whole, &session->rules, ret);
	if (r < 0)
		session_complain(&whole, r);
	return r;
}
