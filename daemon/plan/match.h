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
	bool usable;       /* @code holds */
	bool has_clock;    /* @clock holds */
	bool contradicted; /* the kernel states another scale */
	bool whole_pmu;    /* it is the PMU that is of no use, not the event */
	struct event_code code, clock;
	char why[PAGE_TEXT_MAX];       /* if not usable */
	char clock_why[PAGE_TEXT_MAX]; /* if the term has a clock that this PMU has not */
};

struct match_list {
	unsigned n; /* 0: the kernel has no such PMU */
	struct match *matches;
};

/* Of the globs separated by " | ", the first that names a PMU of @pmus counts. 0, -ENOMEM. */
int match_term(const struct platform_term *term, const struct pmu_list *pmus,
	const struct topology *topology, struct match_list *ret);

void match_list_done(struct match_list *list);

/*
 * The next CPU after @cpu (-1: the first) on which to open @pmu for @socket: of its cpumask the
 * first online one of each die. -1: no more.
 */
int match_next_cpu(
	const struct pmu *pmu, const struct topology *topology, unsigned socket, int cpu);

/*
 * How many boxes of this PMU @socket lacks that it should have, and why (if not 0). A PMU of which
 * it is not known where it counts may be missing on any socket: one without a cpumask, with an
 * empty one, or with a CPU in it whose socket is offline or not known.
 */
unsigned match_n_lost(const struct match *match, const struct topology *topology, unsigned socket,
	char ret_why[PAGE_TEXT_MAX]);
