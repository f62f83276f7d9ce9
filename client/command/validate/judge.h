/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole judgement of one NUMA node: its kernels, what they show, and the verdict. */
#pragma once

#include "client/command/validate/judge/findings.h"
#include "client/command/validate/judge/verdict.h"
#include "client/command/validate/session.h"

enum { JUDGE_KERNELS_MAX = 16 };

/* A metric in which the node's bytes should appear. */
struct judged_metric {
	const char *name;
	enum shape wanted; /* what it should show */
	uint32_t series;
	struct fit fit; /* what it shows */
};

struct judged_node {
	const struct place *place;
	uint32_t socket;
	struct tier tier;
	unsigned n, n_judged; /* kernels; those that the verdict rests on come first */
	struct measured measured[JUDGE_KERNELS_MAX];
	const struct place *neighbour; /* its memory was used from here; NULL: there is none */
	struct measured remote;
	struct judged_metric metric[TIER_METRICS_MAX]; /* tier.n of them */
	struct findings findings;
};

/* 0, or negative errno after a sentence on stderr. judged_done() frees *@ret in any case. */
int judge_node(struct session *session, const struct place *place, struct judged_node *ret);
void judged_done(struct judged_node *node);

/* The share of write-allocates that @measured evaded; NaN: it has none, or the counters are not
 * right. */
double judge_evaded(const struct judged_node *node, const struct measured *measured);

/* The most bytes per ns that a kernel moved. */
double judge_peak(const struct judged_node *node);

/* The worst outcome of those nodes that could be measured; absent if none could. */
enum outcome judge_outcome(const struct judged_node nodes[], unsigned n);
