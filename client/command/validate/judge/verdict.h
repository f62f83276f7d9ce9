/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Says whether the counters of a node's socket are right, from what the kernels showed and never
 * from names. Kernel k moves r(k) and w(k) bytes. A counter that is a sum of both shows
 * a r(k) + b w(k). A cause is named only where these numbers, of all metrics and channels, prove
 * it; else the numbers are.
 */
#pragma once

#include "client/command/validate/measure/shape.h"
#include "common/macro.h"

/* --- findings: what a node's kernels say about the counters --- */

enum { FINDINGS_MAX = 24, FINDING_BYTES = 400 };

/* From good to bad: a node is as bad as its worst finding. */
enum outcome {
	OUTCOME_RIGHT,
	OUTCOME_ABSENT,  /* nothing can be measured there */
	OUTCOME_UNCLEAR, /* too noisy to say */
	OUTCOME_DEFECT,
	OUTCOME_FACTOR, /* of a finding alone: a defect, and the right values are the shown ones
			   times a number */
};

struct finding {
	enum outcome outcome; /* OUTCOME_RIGHT: a remark */
	char text[FINDING_BYTES];
};

struct findings {
	enum outcome outcome;
	unsigned n;
	struct finding finding[FINDINGS_MAX];
};

/* Adds a sentence; those past FINDINGS_MAX are left out. */
_printf_(3, 4) void findings_add(
	struct findings *findings, enum outcome outcome, const char *format, ...);

/* Are factors the only defects? */
bool findings_are_factors(const struct findings *findings);

/* "right", "defect", ... */
const char *outcome_word(enum outcome outcome);

/* --- evidence --- */

struct evidence {
	const struct probe *probe;
	unsigned node;         /* the kernel's number */
	uint32_t socket;       /* uncored's number of the node's */
	struct tier tier;      /* where the node's bytes should appear */
	bool has_memory_nodes; /* the machine has nodes without CPUs */
	bool is_exact;         /* the site does not round values */
	/* What each metric of the tier never contains, by its platform file; NULL: see its flags.
	 */
	const char *never[TIER_METRICS_MAX];
	/* Kernels with traffic that no CPU changes: load, update, others, and last those that
	 * claim lines. */
	const struct measured **kernels;
	unsigned n_kernels;
	struct findings *findings; /* to which all that is found is added; begins as zero */
};

/* The most that others move beside a kernel, as a share of what it shows; 0: they are not noticed.
 */
double evidence_others(const struct evidence *evidence);

/* What @series shows; PROBE_NONE shows nothing. */
struct shown evidence_show(const struct evidence *evidence, uint32_t series);

/* --- metrics --- */

/* What one metric of the tier shows on one socket. */
struct metric_view {
	const char *metric;
	enum shape wanted;
	uint32_t series;
	struct shown shown;
	struct fit with_others; /* if others moved nothing beside the kernels */
};

/* All metrics of the tier. */
struct tier_view {
	unsigned n;
	struct metric_view view[TIER_METRICS_MAX];
};

void evidence_views(const struct evidence *evidence, uint32_t socket, struct tier_view *ret);

/*
 * May @view show so much of the reads and of the writes, and the rest be others'? What others move
 * is known from the pauses. Beside a kernel that fills the memory's bandwidth they may move less,
 * and then too much is taken off; a program whose lines the kernel throws out of the caches moves
 * more. So the truth is as far from what is shown, at most, as if nothing were taken off. False if
 * others are not noticed.
 */
bool evidence_may_be(const struct evidence *evidence, const struct metric_view *view, double reads,
	double writes);

/* Do all metrics show nothing? */
bool views_are_empty(const struct tier_view *views);

/* The largest scale that any of the metrics shows. */
double views_scale(const struct tier_view *views);

/* --- channels: a socket's lines are interleaved, so each shows as much as the next one --- */

enum { CHANNELS_MAX = 64 };

struct channel {
	const char *name;
	uint32_t series;
	struct shown shown;
	bool is_active; /* it counts: page tables and the like reach a few lines of each */
	bool is_uneven; /* it counts more or less than the others, or something else */
};

/* The boxes that uncored reads for a metric. */
struct channels {
	unsigned n, n_active;
	/* The channels that the traffic is on: those that count, or more if boxes that count
	 * nothing explain what the metric lacks. */
	unsigned n_expected;
	struct channel channel[CHANNELS_MAX];
};

void evidence_channels(
	const struct evidence *evidence, const struct metric_view *view, struct channels *ret);

/* --- the verdict --- */

/* Finds which metrics of the node's memory are absent, and why; false: none is. */
bool verdict_is_absent(const struct evidence *evidence);

/* Adds to the findings of @evidence, as all functions here do, and leaves out kernels that do not
 * fit the others. */
void verdict(struct evidence *evidence);

/* --- causes --- */

/* Says of each metric of @views what is wrong with it, and its cause where that is plain. */
void causes_explain(const struct evidence *evidence, const struct tier_view *views);

/* Looks at the channels of metrics with right sums: the errors of channels may cancel out. */
void causes_check_channels(const struct evidence *evidence, const struct tier_view *views);

/* Names the other sockets that show traffic of the node, and if there are none and @entirely is
 * true, the other memory. Returns what share of the traffic they show. */
double causes_elsewhere(const struct evidence *evidence, bool entirely);
