/* SPDX-License-Identifier: BSD-3-Clause */
/* One term of a platform file, matched with the PMUs of this machine. */
#pragma once

#include <stdbool.h>

#include "common/page.h"
#include "daemon/machine/pmu.h"
#include "daemon/machine/topology.h"
#include "daemon/plan/event.h"
#include "daemon/plan/platform.h"

/* A PMU that the term's glob names. */
struct match {
	const struct pmu *pmu;
	bool usable;       /* @code is valid */
	bool has_clock;    /* @clock is valid */
	bool contradicted; /* the kernel states another scale */
	bool is_repeated;  /* another PMU of the list counts the same */
	bool whole_pmu;    /* the whole PMU is unusable, not only the event */
	struct event_code code, clock;
	char why[PAGE_TEXT_MAX];       /* if not usable */
	char clock_why[PAGE_TEXT_MAX]; /* if the term has a clock that this PMU lacks */
};

/* Where a term of a metric is counted: on a box of a matched PMU. */
struct placement {
	unsigned socket, metric;
	const struct platform_term *term;
	const struct match *match;
	struct plan_box *box;
};

struct match_list {
	unsigned n; /* 0: the kernel has no such PMU */
	struct match *matches;
};

/* Matches @term, of a metric in @unit, with @pmus. The term's globs are separated by " | "; the
 * PMUs of the first glob that names some are counted, and those of the others say why they are not.
 * 0, -ENOMEM. */
int match_term(const struct platform_term *term, const char *unit, const struct pmu_list *pmus,
	const struct topology *topology, struct match_list *ret);

void match_list_done(struct match_list *list);

/* Fills in .place and .is_per_socket of each PMU, where a driver's cpumask does not say that:
 * pmu_sockets and pmu_per_socket of the file. */
void match_place(struct pmu_list *pmus, const struct platform *platform);

/*
 * The next CPU after @cpu (-1: the first) on which to open @pmu for @socket: the first online CPU
 * of each die in the cpumask, or of the socket. -1: no more.
 */
int match_next_cpu(
	const struct pmu *pmu, const struct topology *topology, unsigned socket, int cpu);

/*
 * How many boxes of this PMU are missing on @socket, and why (if not 0). A PMU may be missing on
 * any socket if it is not known where it counts: its cpumask does not exist, is empty, or has a CPU
 * whose socket is offline or unknown.
 */
unsigned match_n_lost(const struct match *match, const struct topology *topology, unsigned socket,
	char ret_why[PAGE_TEXT_MAX]);
