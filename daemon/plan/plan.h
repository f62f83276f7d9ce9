/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plan: which perf events will be opened, on which CPU, for which metric of which socket; and
 * which metrics are absent, with the reason. `uncored --check` prints it, and the daemon opens its
 * counters from it. Making a plan needs no privilege and opens no event.
 *
 * A box is one PMU instance on one CPU: the first online CPU of each die in the PMU's cpumask (two
 * CPUs of one die in a cpumask would count the same box twice). Events of one box that are equal in
 * all config words are opened once and may serve several metrics.
 *
 * If the PMU has too few counters, the metrics that a site need not enable go before the others. So
 * events that only opt-in metrics need are in a box of their own, an extra one. It is opened after
 * the main box, and is not pinned if that one is flexible: the kernel gives it what is left. Its
 * values are estimated then, or absent.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/page.h"
#include "daemon/machine/pmu.h"
#include "daemon/machine/topology.h"
#include "daemon/plan/event.h"
#include "daemon/plan/platform.h"

enum { PLAN_EVENTS_MAX = 12, PLAN_NO_CHANNEL = -1 };

/* Room for two reasons. That of an absent value has PAGE_TEXT_MAX bytes: it stands in the page. */
enum { PLAN_WHY_MAX = 2 * PAGE_TEXT_MAX };

struct plan_event {
	struct event_code code;
	bool is_clock;     /* watches the box; not part of any metric */
	uint32_t clock_ms; /* if is_clock: its count must change at least once in this time */
};

/* One event's part in one metric. */
struct plan_use {
	uint8_t event;  /* index into plan_box.events */
	uint8_t metric; /* index into platform.metrics */
	uint8_t term;   /* index into its terms */
	bool subtract;
	struct scale scale; /* what a count is worth */
	int32_t channel;    /* index into plan.channels, or PLAN_NO_CHANNEL */
};

struct plan_box {
	char pmu[PMU_NAME_MAX];
	uint32_t type;
	int cpu;
	bool is_extra; /* only opt-in metrics need its events */
	unsigned socket;
	unsigned n_events, n_uses;
	struct plan_use uses[PLAN_EVENTS_MAX]; /* early, because every sweep reads them */
	struct plan_event events[PLAN_EVENTS_MAX];
};

struct plan_socket {
	uint32_t package;
	int cpu; /* for the reader thread: the CPU that most boxes are on; -1: no boxes */
	unsigned first_box, n_boxes;
	unsigned first_channel, n_channels;
	uint32_t quality[PAGE_METRICS_MAX]; /* static: uncalibrated, standin, partial, absent */
	char why[PAGE_METRICS_MAX][PLAN_WHY_MAX]; /* if absent, partial, uncalibrated, or counted
						      by a check */
	bool contradicted[PAGE_METRICS_MAX]; /* absent because the kernel states another scale */
	uint8_t substituted_by[PAGE_METRICS_MAX]; /* 1 + the check counted instead; 0: none */
	/* Boxes of the term that .why speaks of, or of the first: those to be counted, and those
	 * that there should be. */
	struct plan_found {
		unsigned n, n_expected;
		unsigned n_here; /* of these, those that are certainly on this socket */
	} found[PAGE_METRICS_MAX];
};

/* A PMU or an event that was looked for and cannot be used. */
struct plan_missing {
	char pmu[sizeof((struct platform_term *)NULL)->pmu]; /* its name, or unmatched globs */
	int metric;                                          /* index, or -1: all of that PMU */
	char why[PAGE_TEXT_MAX];
};

struct plan {
	const struct platform *platform; /* borrowed */
	unsigned n_sockets, n_boxes, n_channels, n_missing;
	struct plan_socket *sockets;
	struct plan_box *boxes; /* sorted by socket; within one in the order of the platform file,
				   opt-in metrics last */
	struct page_channel *channels; /* sorted by socket */
	struct plan_missing *missing;
};

/*
 * Makes the plan of a machine. Matches @platform, of at most PAGE_METRICS_MAX metrics, with the
 * machine below @root_fd. A metric is absent on a socket if a term that is not optional has no
 * usable box there: half of a sum is worse than none. A metric is partial if a term has fewer boxes
 * than the PMUs found for it, or if an optional term has none. 0, even if everything is absent.
 * -ENOMEM; -E2BIG: more sockets, channels or events than a plan can have; errors of
 * pmu_list_load().
 */
int planner_make_plan(const struct platform *platform, int root_fd, const struct topology *topology,
	struct plan *ret, struct fault *fault);

/* --- the quality of a value before anything is counted: absent, partial, or in doubt --- */

struct match_list;

/* The facts for a judgement; all borrowed. */
struct quality_evidence {
	const struct platform *platform;
	const struct match_list *lists; /* of the metric, one for each term */
	const struct topology *topology;
	unsigned socket;
	bool is_divided; /* sockets have several NUMA nodes */
};

/* Fills in .quality and .why of @metric for @socket. */
void quality_judge(
	struct plan_socket *socket, unsigned metric, const struct quality_evidence *evidence);

/* Tells what plan_find_dispute() finds of @metric on all sockets, when all have their boxes. */
void quality_note_dispute(struct plan *plan, unsigned metric);

/* Tells of each socket that has fewer boxes of @metric than another, when all are judged. If the
 * boxes are memory channels the value is partial there. -ENOMEM. */
int quality_note_uneven(struct plan *plan, unsigned metric);

/* --- the parts of a plan --- */

/* Adds a PMU or an event that cannot be used, if it is not there yet. -ENOMEM. */
int plan_add_missing(struct plan *plan, const char *pmu, int metric, const char *why);

/* NULL: @socket has no such box of @pmu on @cpu. */
struct plan_box *plan_find_box(
	const struct plan *plan, unsigned socket, const struct pmu *pmu, int cpu, bool is_extra);

/* Finds the box of @pmu on @cpu, or adds it to @socket. Later sockets must not have boxes yet.
 * NULL: there is no memory. */
struct plan_box *plan_take_box(
	struct plan *plan, unsigned socket, const struct pmu *pmu, int cpu, bool is_extra);

/* Adds a channel to channel->socket. -ENOMEM. */
int plan_add_channel(struct plan *plan, const struct page_channel *channel);

/*
 * If a metric is absent on a socket and its check (platform_check_of()) is not, counts the metric
 * with the check's boxes; .why keeps the reason. Does not do so if the kernel states another scale:
 * then one of the two scales is wrong. Call it once, when it is known which boxes can be opened.
 */
void plan_take_checks(struct plan *plan);

/* The codes of the first event of @metric of which kernel and platform file differ, in words. NULL:
 * there is none, or the site compared the metric with a known traffic. */
const char *plan_find_dispute(const struct plan *plan, unsigned metric);

/* Is @metric served on any socket? -1: is any? */
bool plan_serves(const struct plan *plan, int metric);

void plan_done(struct plan *plan);
