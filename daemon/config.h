/* SPDX-License-Identifier: BSD-3-Clause */
/* uncored.conf: every key with its default, unit and range is in the table of config.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/page.h"
#include "daemon/fault.h"

/* What the site says one count of a metric is worth. */
struct config_calibration {
	char metric[PAGE_NAME_MAX];
	uint32_t bytes;
};

struct config {
	char socket_path[108];         /* sun_path */
	uint32_t socket_mode;          /* octal */
	char platform[32];             /* name of a platform file; "": recognise the machine */
	uint32_t max_clients;          /* connections in all */
	uint32_t max_clients_per_user; /* connections of one uid */
	uint32_t requests_per_second;  /* of one connection, before it is read no further */
	uint32_t budget_percent;       /* of one CPU that the sweeps of one socket may take */
	uint32_t burst_ms;             /* sweep time that may be saved up */
	unsigned n_calibrations;
	struct config_calibration calibrations[PAGE_METRICS_MAX];
	bool realtime; /* readers in SCHED_FIFO, where the system permits it */
};

/*
 * Reads @path over the defaults; NULL: defaults only. A file that is there must be right.
 * 0; -ENOENT and other errno of open(2); -EINVAL: the fault names file, line and key.
 */
int config_load(const char *path, struct config *ret, struct fault *fault);
