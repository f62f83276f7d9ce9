/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counting hardware of the machine, as this daemon recognises, plans, opens and reads it.
 *
 * The fields are in the order in which they are made: each needs the fields above it.
 * counters_done() frees them in the reverse order.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/fault.h"
#include "daemon/base/fdstore.h"
#include "daemon/count/generation.h"
#include "daemon/machine/topology.h"
#include "daemon/plan/plan.h"
#include "daemon/plan/platform.h"
#include "daemon/read/reader.h"
#include "daemon/site/config.h"

enum { COUNTERS_WARNINGS_MAX = 10 }; /* one of each kind */

/* Where the facts of the machine come from. All strings are borrowed. */
struct counters_origin {
	const char *root; /* "/": the running machine */
	const char *const *platform_dirs;
	const char *state; /* folder of socket-numbers.h; NULL: none */
};

struct counters {
	struct counters_origin origin;
	struct platform *platform;
	bool is_guest; /* a virtual machine */
	struct topology topology;
	struct plan plan;
	struct generation generation;
	bool is_kept;           /* a service manager keeps the generation */
	int stopped_fd;         /* eventfd: a reader has something to report, see restart.c */
	struct reader *readers; /* one per socket */
	unsigned n_readers;
	unsigned n_warnings;
	struct fault warnings[COUNTERS_WARNINGS_MAX];
};

/*
 * Recognises the machine and makes the plan; opens nothing, needs no privilege. @counters must be
 * all zero. Errors of platform_find(), platform_choose(), platform_calibrate(), topology_load(),
 * planner_make_plan(); -ENOMEM.
 */
int counters_plan(struct counters *counters, const struct counters_origin *origin,
	const struct config *config, struct fault *fault);

/*
 * Goes on with the generation in @store, or opens the planned boxes and makes a new generation.
 * Reads every counter once, starts the readers, leaves everything that must outlive this process
 * with the service manager, saves the numbers of the sockets, and gives up all privilege. Boxes
 * that the kernel refuses make warnings. @store is empty afterwards. -ENODEV: the kernel shows
 * nothing that could be counted; -EACCES, -EPERM: too little privilege, the fault says how to give
 * it; errno of perf_event_open(2): not one box could be opened.
 */
int counters_open(struct counters *counters, const struct config *config, struct fdstore *store,
	struct fault *fault);

/*
 * Withdraws the page from all clients, and publishes the same generation in another page, for the
 * job of @owner. Errors of generation_replace_page().
 */
int counters_replace_page(struct counters *counters, uint32_t owner);

/* Applies the rules of @config that may change at run time: budget, intervals, quantum. */
void counters_apply(struct counters *counters, const struct config *config);

void counters_done(struct counters *counters);
