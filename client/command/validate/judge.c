/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/judge.h"

#include <errno.h>
#include <math.h>

#include "common/macro.h"
#include "common/text.h"

/* fill is judged if a counter of claimed lines shows nearly all that fill writes. */
static const double CLAIMED = 0.9;

enum { NAMES_MAX = 200 };

/* --- which kernels --- */

static const char *const judged_kernels[] = { "load", "update", "storent1", "fill" };
static const char *const evasion_kernels[] = { "store1", "copy" };

static int judge_run_kernel(struct judged_node *node, const char *name, unsigned threads)
{
	const struct workers_job what = { .kernel = kernel_find(name),
		.place = node->place,
		.memory = node->place,
		.n_threads = threads };
	int r;

	if (what.kernel->absent)
		return 0;
	r = session_measure(node->session, &what, &node->measured[node->n]);
	node->n += r == 0;
	if (r < 0)
		measured_done(&node->measured[node->n]);
	return r;
}

/* --- fill --- */

static double claimed(const struct judged_node *node, const struct measured *fill)
{
	static const char *const metrics[] = { "itom", "specitom" };
	double bytes = 0;

	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++) {
		uint32_t series = probe_find(&node->session->probe, node->socket, metrics[i]);

		if (probe_has(&node->session->probe, series))
			bytes += fill->bytes[series];
	}
	return bytes / fill->predicted.written;
}

/* If the CPU is known to evade the reads of fill, its traffic is known, and it can be judged. */
static void judge_fill(struct judged_node *node)
{
	struct measured *last = node->n ? &node->measured[node->n - 1] : NULL;

	node->n_judged = node->n;
	if (!last || last->predicted.allocated == 0)
		return;
	if (claimed(node, last) >= CLAIMED)
		last->predicted.allocated = 0;
	else
		node->n_judged--;
}

/* --- the node --- */

/* The verdict needs none of these, so there is one without the memory for them, too. */
static int run_evasion(struct judged_node *node)
{
	unsigned threads = node->place->n_cpus;
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(evasion_kernels) && r == 0; i++) {
		r = judge_run_kernel(node, evasion_kernels[i], 1);
		if (r == 0 && threads > 1)
			r = judge_run_kernel(node, evasion_kernels[i], threads);
	}
	return r == -ENOMEM ? 0 : r;
}

static int judge_run_all(struct judged_node *node)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(judged_kernels) && r == 0; i++)
		r = judge_run_kernel(node, judged_kernels[i], node->place->n_cpus);
	judge_fill(node);
	return r == 0 && !node->session->options.quick ? run_evasion(node) : r;
}

/* Reads the next node's memory from here, to see which socket's counters show that. */
static int run_remote(struct judged_node *node)
{
	const struct places *places = &node->session->places;
	unsigned here = (unsigned)(node->place - places->place);
	const struct place *next = &places->place[(here + 1) % places->n];
	const struct workers_job what = {
		.kernel = kernel_find("load"), .place = node->place, .memory = next, .n_threads = 1
	};
	int r;

	if (next == node->place || node->session->options.quick || node->place->memory_only)
		return 0;
	r = session_measure(node->session, &what, &node->remote);
	if (r == 0)
		node->neighbour = next;
	return r == -ENOMEM ? 0 : r;
}

static struct evidence evidence_of(struct judged_node *node)
{
	struct evidence evidence = {
		.probe = &node->session->probe,
		.node = node->place->node,
		.socket = node->socket,
		.tier = node->tier,
		.has_memory_nodes = node->session->places.has_memory_nodes,
		.is_exact = node->session->rules.quantum <= 1,
		.findings = &node->findings,
	};

	for (unsigned i = 0; i < node->tier.n; i++)
		evidence.never[i] =
			session_never(node->session, node->tier.metric[i].name, node->socket);
	return evidence;
}

static void judge_one_node(struct judged_node *node)
{
	const struct measured *kernels[JUDGE_KERNELS_MAX];
	struct evidence evidence = evidence_of(node);

	evidence.kernels = kernels;
	evidence.n_kernels = node->n_judged;
	for (unsigned i = 0; i < node->n_judged; i++)
		kernels[i] = &node->measured[i];
	verdict(&evidence);
	evidence_views(&evidence, node->socket, &node->views);
	for (unsigned i = 0; i < node->views.n; i++)
		evidence_channels(&evidence, &node->views.view[i], &node->channels[i]);
}

static bool can_be_judged(struct judged_node *node)
{
	struct evidence evidence = evidence_of(node);

	if (node->socket == UINT32_MAX)
		findings_add(&node->findings, OUTCOME_ABSENT,
			"uncored reads no socket of package %u.", node->place->package);
	else if (!node->tier.n)
		findings_add(&node->findings, OUTCOME_ABSENT,
			"No metric of this platform counts the memory of node %u, which has no "
			"CPUs.",
			node->place->node);
	else
		return !verdict_is_absent(&evidence);
	return false;
}

int judge_node(struct session *session, const struct place *place, struct judged_node *ret)
{
	int r;

	*ret = (struct judged_node){
		.session = session, .place = place, .socket = session_socket(session, place)
	};
	ret->tier = session_tier(session, place);
	if (!can_be_judged(ret))
		return 0;
	r = judge_run_all(ret);
	if (r == -ENOMEM) {
		judged_done(ret);
		ret->n = 0;
		findings_add(&ret->findings, OUTCOME_ABSENT,
			"There is not enough free memory on node %u.", place->node);
		return 0;
	}
	if (r == 0)
		judge_one_node(ret);
	return r == 0 ? run_remote(ret) : r;
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
	const struct metric_view *reads = &node->views.view[0];
	double all = shape_predicted(reads->wanted, traffic);

	/* Only right counters can tell, and others evade or not what they like. */
	if (traffic->allocated == 0 || node->findings.outcome != OUTCOME_RIGHT ||
		measured_notices_others(measured))
		return NAN;
	return (all - measured->bytes[reads->series]) / traffic->allocated;
}

/* Did other programs move much beside a kernel of the verdict? */
static bool judge_notices_others(const struct judged_node *node)
{
	for (unsigned i = 0; i < node->n_judged; i++)
		if (measured_notices_others(&node->measured[i]))
			return true;
	return false;
}

static double bytes_per_ns(const struct measured *measured)
{
	return measured_total(measured) / measured->best_ns;
}

static const struct measured *fastest(const struct judged_node *node)
{
	const struct measured *found = &node->measured[0];

	for (unsigned i = 1; i < node->n; i++)
		if (bytes_per_ns(&node->measured[i]) > bytes_per_ns(found))
			found = &node->measured[i];
	return found;
}

double judge_peak(const struct judged_node *node)
{
	return bytes_per_ns(fastest(node));
}

const char *judge_no_peak(const struct judged_node *node)
{
	if (session_is_simulated(node->session))
		return "A simulated machine has no time.";
	return measured_notices_others(fastest(node)) ? "Other programs used this memory." : NULL;
}

/* --- nodes of one package --- */

static void judge_pair(struct judged_node *node, const struct judged_node *other)
{
	const struct channels *own = &node->channels[0], *others = &other->channels[0];
	char names[NAMES_MAX] = "";

	for (unsigned i = 0; i < own->n; i++)
		if (own->channel[i].is_active && others->channel[i].is_active)
			text_append(names, sizeof names, "%s%s", *names ? ", " : "",
				own->channel[i].name);
	if (*names)
		findings_add(&node->findings, OUTCOME_UNCLEAR,
			"Boxes that show the traffic of this node and of node %u: %s. Nodes of a "
			"package have memory controllers of their own, but on Knights Landing and "
			"with numa=fake: so these may be the boxes of another node.",
			other->place->node, names);
}

void judge_apart(struct judged_node *node)
{
	for (const struct judged_node *other = node->session->nodes; other < node; other++)
		if (node->n && other->n && node->place->n_nodes_of_package > 1 &&
			node->views.view[0].series == other->views.view[0].series)
			judge_pair(node, other);
}

enum outcome judge_outcome(const struct session *session)
{
	enum outcome worst = OUTCOME_ABSENT;

	/* If nothing was measured, nothing is right. A node that cannot be measured does not spoil
	 * the others. */
	for (unsigned i = 0; i < session->n_nodes; i++) {
		enum outcome outcome = session->nodes[i].findings.outcome;

		if (outcome != OUTCOME_ABSENT && (worst == OUTCOME_ABSENT || outcome > worst))
			worst = outcome;
	}
	return worst;
}

/* --- calibration --- */

static const double NEAR = 0.03;

/* The bytes that uncored takes a count of the metric for; 0: its channels do not say. */
static uint32_t bytes_now(const struct session *session, uint32_t series)
{
	for (uint32_t i = 0; i < session->probe.reader.machine.n_channels; i++) {
		struct uncore_channel channel = UNCORE_CHANNEL_INIT;

		if (uncore_describe_channel(session->probe.reader.handle, i, &channel) == 0 &&
			channel.metric == session->probe.series[series].metric)
			return channel.bytes;
	}
	return 0;
}

static bool calibrate_metric(
	const struct session *session, const struct metric_view *view, struct calibration *ret)
{
	const struct shown *shown = &view->shown;

	if (view->series == PROBE_NONE || shown->shape != view->wanted ||
		!(session->probe.series[view->series].quality & UNCORE_UNCALIBRATED))
		return false;
	*ret = (struct calibration){
		.metric = view->metric,
		.factor = 1 / shown->scale,
		.error = shown->fit.error / (shown->scale * shown->scale),
	};
	ret->bytes = (unsigned)round(
		bytes_now(session, view->series) * shape_power_of_two(ret->factor, NEAR));
	return true;
}

unsigned calibrate(const struct judged_node *node, struct calibration ret[TIER_METRICS_MAX])
{
	unsigned n = 0;

	if (judge_notices_others(node) ||
		(node->findings.outcome != OUTCOME_RIGHT && !findings_are_factors(&node->findings)))
		return 0;
	for (unsigned i = 0; i < node->views.n; i++)
		n += calibrate_metric(node->session, &node->views.view[i], &ret[n]);
	return n;
}
