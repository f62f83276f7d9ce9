/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counters below perfevent. They are found with the first good snapshot, or in the record of an
 * earlier run of the agent (saved.h), and updated from each snapshot. They are published once, in
 * an order that never changes; perfevent.h gives them names and metrics.
 */
#pragma once

#include <pcp/pmapi.h>
#include <pcp/pmda.h>
#include <stdbool.h>
#include <stdint.h>

#include "pmda/saved.h"
#include "pmda/view.h"

struct tree_cpu {
	unsigned cpu;
	char name[16];
};

struct tree {
	bool loaded, published, unsaved;
	struct saved saved;
	uint64_t saved_ns;      /* CLOCK_MONOTONIC: when the record was last written */
	unsigned n_connections; /* number of the connection that the counters' sources belong to */
	unsigned n_cpus;
	struct tree_cpu *cpus;
	pmdaInstid *set;
	pmdaMetric *metrics;
	pmdaNameSpace *names;
};

/* The one tree of this process. Only tree.c changes it. */
extern struct tree the_tree;

/*
 * Updates the tree from the view's snapshot, or from the fact that there is none. Counts need a
 * snapshot with channels. Makes the tree if there is none yet. Call it for each snapshot, from the
 * first question about this tree on.
 */
void tree_update(const struct view *view);

/* Saves the last counts, because uncored is away or the agent ends. */
void tree_end(void);

/* The counter of the same metric on @cpu; NULL: there is none. */
const struct counter *tree_find(const struct counter *metric, unsigned cpu);

/* Is @counter the first of its metric that is offered? */
bool tree_is_first(const struct counter *counter);
