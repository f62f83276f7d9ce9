/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counting hardware as this daemon has it: recognised, planned, opened, read.
 *
 * The order is that of the fields: each needs those above it, and hardware_done() goes back up.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/box.h"
#include "daemon/config.h"
#include "daemon/fault.h"
#include "daemon/plan.h"
#include "daemon/platform.h"
#include "daemon/publish.h"
#include "daemon/reader.h"
#include "daemon/topology.h"

enum { HARDWARE_WARNINGS_MAX = 4 }; /* one of each kind */

struct hardware {
	const char *const *platform_dirs; /* borrowed */
	struct platform *platform;
	bool is_guest; /* a virtual machine */
	struct topology topology;
	struct plan plan;
	struct box *boxes; /* parallel to plan.boxes */
	struct publication publication;
	struct reader *readers; /* one per socket */
	unsigned n_readers;
	unsigned n_warnings;
	struct fault warnings[HARDWARE_WARNINGS_MAX];
};

/*
 * Recognises the machine below @root and makes the plan; opens nothing, needs no privilege. The
 * hardware must be zero. Errors of platform_find(), platform_calibrate(),
 * topology_load(), plan_make().
 */
int hardware_plan(struct hardware *hardware, const char *root, const char *const platform_dirs[],
	const struct config *config, struct fault *fault);

/*
 * Opens what was planned, makes the page, reads every counter once, starts the readers and gives up
 * all privilege. Boxes that the kernel refuses make warnings.
 * -ENODEV: the kernel shows nothing that could be counted; -EACCES, -EPERM: too little privilege,
 * the fault says how to give it; errno of perf_event_open(2): not one box could be opened.
 */
int hardware_open(struct hardware *hardware, const struct config *config, struct fault *fault);

void hardware_done(struct hardware *hardware);
