/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole judgement of one NUMA node: its kernels, what they show, and the verdict. Then the
 * result of all nodes, as text and as a report on a machine. */
#pragma once

#include <stdio.h>

#include "client/command/validate/judge/verdict.h"
#include "client/command/validate/session.h"

enum { JUDGE_KERNELS_MAX = 16 };

struct judged_node {
	struct session *session;
	const struct place *place;
	uint32_t socket;
	struct tier tier;
	unsigned n, n_judged; /* kernels; those that the verdict rests on come first */
	struct measured measured[JUDGE_KERNELS_MAX];
	const struct place *neighbour; /* its memory was used from here; NULL: there is none */
	struct measured remote;
	struct tier_view views; /* what the metrics of the tier show; empty: not measured */
	struct channels channels[TIER_METRICS_MAX]; /* and their channels */
	struct findings findings;
};

/* 0, or negative errno after a sentence on stderr. judged_done() frees *@ret in any case. */
int judge_node(struct session *session, const struct place *place, struct judged_node *ret);
void judged_done(struct judged_node *node);

/* The share of write-allocates that @measured evaded; NaN: it has none, or the counters are not
 * right. */
double judge_evaded(const struct judged_node *node, const struct measured *measured);

/* Of a node with kernels: the most bytes per ns that one moved, or why that is not the node's peak;
 * NULL: it is. */
double judge_peak(const struct judged_node *node);
const char *judge_no_peak(const struct judged_node *node);

/* Nodes of a package have memory controllers of their own: adds to the findings of @node if boxes
 * that show its traffic show that of one of the nodes before it, too. */
void judge_apart(struct judged_node *node);

/* The worst outcome of those nodes that could be measured; absent if none could. */
enum outcome judge_outcome(const struct session *session);

/* --- the result --- */

/* What a count of an uncalibrated metric is worth here, for the site's configuration. */
struct calibration {
	const char *metric;
	double factor, error; /* the right value is the shown one times this */
	unsigned bytes; /* for the line in uncored.conf; 0: the factor is not a power of two */
};

/* Writes the uncalibrated metrics of the node to @ret, and returns their number. */
unsigned calibrate(const struct judged_node *node, struct calibration ret[TIER_METRICS_MAX]);

void print_head(FILE *out, const struct session *session);
void print_node(FILE *out, const struct judged_node *node);

/* The result of all nodes together. */
void print_result(FILE *out, const struct session *session);

/* All three. */
void print_all(FILE *out, const struct session *session);

/* As JSON, without the name of the machine. For free(3); NULL: out of memory. */
char *report_json(const struct session *session);

/* All of it as one text to paste or mail, with the @json of report_json(). Its last line tells
 * whether something in it was changed or left out. 0, or -ENOMEM. */
int report_text(FILE *out, const struct session *session, const char *json);

/* One kernel over nodes, threads, sizes and halos, without a verdict. 0, or negative errno after a
 * sentence on stderr. */
int single_run(struct session *session, FILE *out);
