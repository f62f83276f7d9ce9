/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/judge/verdict.h"

/* Another socket is named only if it shows at least this share. */
static const double MENTIONED = 0.05;
/* A share that other programs on the machine do not reach. */
static const double MOST = 0.5;

/* Can it be that none of this is the node's? */
static bool are_of_others(const struct evidence *evidence, const struct tier_view *views)
{
	for (unsigned i = 0; i < views->n; i++)
		if (!evidence_may_be(evidence, &views->view[i], 0, 0))
			return false;
	return true;
}

/* The share that the metrics of @tier show on @socket; 0: too little to name it. */
static double share_of(const struct evidence *evidence, const struct tier *tier, uint32_t socket)
{
	struct evidence other = *evidence;
	struct tier_view views;

	other.tier = *tier;
	evidence_views(&other, socket, &views);
	return views_are_empty(&views) || views_scale(&views) < MENTIONED ||
			       are_of_others(&other, &views)
		       ? 0
		       : views_scale(&views);
}

static double share_of_socket(const struct evidence *evidence, uint32_t socket)
{
	return socket == evidence->socket ? 0 : share_of(evidence, &evidence->tier, socket);
}

static double share_of_tier(const struct evidence *evidence, const struct tier *tier)
{
	return tier_has(&evidence->tier, tier->metric[0].name)
		       ? 0
		       : share_of(evidence, tier, evidence->socket);
}

double elsewhere_on_sockets(const struct evidence *evidence, bool entirely)
{
	double sum = 0;

	for (uint32_t i = 0; i < evidence->probe->reader.machine.n_sockets; i++) {
		double share = share_of_socket(evidence, i);

		sum += share;
		if (share > 0 && entirely)
			findings_add(evidence->findings, OUTCOME_DEFECT,
				"The traffic of node %u shows on another socket's counters: on "
				"socket %u, not on socket %u.",
				evidence->place->node, i, evidence->socket);
		else if (share > 0)
			findings_add(evidence->findings, OUTCOME_DEFECT,
				"A part of the traffic of node %u shows on socket %u: %.2f of it.",
				evidence->place->node, i, share);
	}
	return sum;
}

/* HBM can be a cache of DRAM (KNL's cache mode, Xeon Max's). Then DRAM is rightly idle. */
static void explain_other_memory(const struct evidence *evidence, const struct tier *tier)
{
	char there[TIER_NAMES_BYTES], here[TIER_NAMES_BYTES];

	tier_names(tier, there);
	tier_names(&evidence->tier, here);
	if (evidence->has_memory_nodes)
		findings_add(evidence->findings, OUTCOME_DEFECT,
			"The traffic of node %u shows on the counters of other memory: in %s, not "
			"in %s.",
			evidence->place->node, there, here);
	else
		findings_add(evidence->findings, OUTCOME_UNCLEAR,
			"The traffic of node %u shows in %s, not in %s. That memory may be a cache "
			"of this one, or the two are exchanged. Flat mode would tell.",
			evidence->place->node, there, here);
}

static bool is_in_other_memory(const struct evidence *evidence)
{
	const struct tier *tier;

	for (size_t i = 0; (tier = tier_nth(i)); i++) {
		if (share_of_tier(evidence, tier) == 0)
			continue;
		explain_other_memory(evidence, tier);
		return true;
	}
	return false;
}

bool elsewhere_is_most(const struct evidence *evidence)
{
	const struct tier *tier;

	for (uint32_t i = 0; i < evidence->probe->reader.machine.n_sockets; i++)
		if (share_of_socket(evidence, i) > MOST)
			return true;
	for (size_t i = 0; (tier = tier_nth(i)); i++)
		if (share_of_tier(evidence, tier) > MOST)
			return true;
	return false;
}

void elsewhere_entirely(const struct evidence *evidence)
{
	const struct place *place = evidence->place;

	if (elsewhere_on_sockets(evidence, true) > 0 || is_in_other_memory(evidence))
		return;
	if (place->n_nodes_of_package > 1)
		findings_add(evidence->findings, OUTCOME_DEFECT,
			"Half of the socket is not seen: nothing shows the traffic of node %u, one "
			"of %u nodes of socket %u (SNC, NPS).",
			place->node, place->n_nodes_of_package, evidence->socket);
	else
		findings_add(evidence->findings, OUTCOME_DEFECT,
			"Nothing is counted: no counter shows the traffic of node %u.",
			place->node);
}
