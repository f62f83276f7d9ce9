/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/judge.h"

#include <errno.h>
#include <math.h>

#include "common/macro.h"

/* fill is judged if a counter of claimed lines shows nearly all that fill writes. */
static const double CLAIMED = 0.9;

/* --- which kernels --- */

static const char *const judged_kernels[] = { "load", "update", "storent1", "fill" };
static const char *const evasion_kernels[] = { "store1", "copy" };

static int run(
	struct session *session, struct judged_node *node, const char *name, unsigned threads)
{
	const struct session_run what = { .kernel = kernel_find(name),
		.place = node->place,
		.memory = node->place,
		.n_threads = threads };
	int r;

	if (what.kernel->absent)
		return 0;
	r = session_measure(session, &what, &node->measured[node->n]);
	node->n += r == 0;
	if (r < 0)
		measured_done(&node->measured[node->n]);
	return r;
}

/* --- fill --- */

static double claimed(
	const struct session *session, const struct judged_node *node, const struct measured *fill)
{
	static const char *const metrics[] = { "itom", "specitom" };
	double bytes = 0;

	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++) {
		uint32_t series = probe_find(&session->probe, node->socket, metrics[i]);

		if (series != PROBE_NONE &&
			!(session->probe.series[series].quality & UNCORE_ABSENT))
			bytes += fill->bytes[series];
	}
	return bytes / fill->predicted.written;
}

/* If the CPU is known to evade the reads of fill, its traffic is known, and it can be judged. */
static void judge_fill(const struct session *session, struct judged_node *node)
{
	struct measured *last = node->n ? &node->measured[node->n - 1] : NULL;

	node->n_judged = node->n;
	if (!last || last->predicted.allocated == 0)
		return;
	if (claimed(session, node, last) >= CLAIMED)
		last->predicted.allocated = 0;
	else
		node->n_judged--;
}

/* --- the node --- */

static int run_all(struct session *session, struct judged_node *node)
{
	unsigned threads = node->place->n_cpus;
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(judged_kernels) && r == 0; i++)
		r = run(session, node, judged_kernels[i], threads);
	judge_fill(session, node);
	for (size_t i = 0; i < ARRAY_SIZE(evasion_kernels) && r == 0 && !session->options.quick;
		i++) {
		r = run(session, node, evasion_kernels[i], 1);
		if (r == 0 && threads > 1)
			r = run(session, node, evasion_kernels[i], threads);
	}
	return r;
}

/* Reads the next node's memory from here, to see which socket's counters show that. */
static int run_remote(struct session *session, struct judged_node *node)
{
	const struct places *places = &session->places;
	unsigned here = (unsigned)(node->place - places->place);
	const struct place *next = &places->place[(here + 1) % places->n];
	const struct session_run what = {
		.kernel = kernel_find("load"), .place = node->place, .memory = next, .n_threads = 1
	};

	if (next == node->place || session->options.quick || node->place->memory_only ||
		!session_wants(session, next))
		return 0;
	node->neighbour = next;
	return session_measure(session, &what, &node->remote);
}

static bool has_memory_nodes(const struct places *places)
{
	for (unsigned i = 0; i < places->n; i++)
		if (places->place[i].memory_only)
			return true;
	return false;
}

static struct evidence evidence_of(const struct session *session, const struct judged_node *node)
{
	return (struct evidence){
		.probe = &session->probe,
		.place = node->place,
		.socket = node->socket,
		.tier = node->tier,
		.has_memory_nodes = has_memory_nodes(&session->places),
	};
}

static void judge(const struct session *session, struct judged_node *node)
{
	const struct measured *kernels[JUDGE_KERNELS_MAX];
	struct evidence evidence = evidence_of(session, node);

	evidence.kernels = kernels;
	evidence.n_kernels = node->n_judged;
	for (unsigned i = 0; i < node->n_judged; i++)
		kernels[i] = &node->measured[i];
	for (unsigned i = 0; i < node->tier.n; i++) {
		const struct tier_metric *metric = &node->tier.metric[i];

		node->metric[i] = (struct judged_metric){ metric->name, metric->wanted,
			probe_find(&session->probe, node->socket, metric->name),
			verdict_fit(&evidence, metric->name) };
	}
	verdict(&evidence, &node->findings);
}

static bool can_be_judged(const struct session *session, struct judged_node *node)
{
	struct evidence evidence = evidence_of(session, node);

	if (node->socket == UINT32_MAX)
		findings_add(&node->findings, OUTCOME_ABSENT,
			"uncored reads no socket of package %u.", node->place->package);
	else if (!node->tier.n)
		findings_add(&node->findings, OUTCOME_ABSENT,
			"No metric of this platform counts the memory of node %u, which has no "
			"CPUs.",
			node->place->node);
	else
		return !verdict_is_absent(&evidence, &node->findings);
	return false;
}

int judge_node(struct session *session, const struct place *place, struct judged_node *ret)
{
	int r;

	*ret = (struct judged_node){ .place = place, .socket = session_socket(session, place) };
	ret->tier = session_tier(session, place);
	if (!can_be_judged(session, ret))
		return 0;
	r = run_all(session, ret);
	if (r == -ENOMEM) {
		findings_add(&ret->findings, OUTCOME_ABSENT,
			"There is not enough free memory on node %u.", place->node);
		return 0;
	}
	if (r == 0)
		judge(session, ret);
	return r == 0 ? run_remote(session, ret) : r;
}

void judged_done(struct judged_node *node)
{
	for (unsigned i = 0; i < node->n; i++)
		measured_done(&node->measured[i]);
	measured_done(&node->remote);
}

double judge_evaded(const struct judged_node *node, const struct measured *measured)
{
	const struct kernel_traffic *traffic = &measured->predicted;
	const struct judged_metric *reads = &node->metric[0];
	double all = shape_predicted(reads->wanted, traffic);

	/* Only right counters can tell. */
	if (traffic->allocated == 0 || node->findings.outcome != OUTCOME_RIGHT)
		return NAN;
	return (all - measured->bytes[reads->series]) / traffic->allocated;
}

double judge_peak(const struct judged_node *node)
{
	double peak = 0;

	for (unsigned i = 0; i < node->n; i++)
		peak = fmax(peak, measured_total(&node->measured[i]) / node->measured[i].best_ns);
	return peak;
}

enum outcome judge_outcome(const struct judged_node nodes[], unsigned n)
{
	enum outcome worst = OUTCOME_ABSENT;

	/* If nothing was measured, nothing is right. A node that cannot be measured does not spoil
	 * the others. */
	for (unsigned i = 0; i < n; i++) {
		enum outcome outcome = nodes[i].findings.outcome;

		if (outcome != OUTCOME_ABSENT && (worst == OUTCOME_ABSENT || outcome > worst))
			worst = outcome;
	}
	return worst;
}
