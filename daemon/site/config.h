/* SPDX-License-Identifier: BSD-3-Clause */
/* uncored.conf: every key with its default, unit and range is in the table of config.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/page.h"
#include "daemon/base/fault.h"
#include "daemon/site/policy.h"

enum { CONFIG_BYTES_MAX = 16777216 }; /* as PLATFORM_BYTES_MAX */

/* The worth of one count of a metric, as the site says. */
struct config_calibration {
	char metric[PAGE_NAME_MAX];
	uint32_t bytes;
};

/* Where a configuration came from, to read it again; both texts are borrowed. */
struct config_origin {
	const char *path;        /* NULL: the default, which need not exist */
	const char *socket_path; /* wins over the file; NULL: does not */
};

struct config {
	struct config_origin origin;
	const struct policy_access *former; /* while it is read: see config_find() */
	char socket_path[108];              /* sun_path */
	uint32_t socket_mode;               /* octal */
	struct policy_access access;
	struct policy_disclosure disclosure;
	char platform[32];             /* name of a platform file; "": recognise the machine */
	uint32_t max_clients;          /* connections in all; 0: four times as many */
	uint32_t max_clients_per_user; /* connections of one account; 0: goes by the machine */
	uint32_t requests_per_second;  /* of one connection; more of them wait */
	uint32_t budget_percent;       /* of one CPU that the sweeps of one socket may take */
	uint32_t burst_ms;             /* sweep time that may be saved up */
	unsigned n_calibrations;
	struct config_calibration calibrations[PAGE_METRICS_MAX];
	bool realtime;        /* readers in SCHED_FIFO, where the system permits it */
	struct fault refused; /* why the file is wrong, so that this older content holds; or "" */
};

/*
 * Reads @path over the defaults; NULL: defaults only. A file that is there must be right.
 * 0; -ENOENT and other errno of open(2); -EINVAL: the fault names file, line and key.
 */
int config_load(const char *path, struct config *ret, struct fault *fault);

/* The path of the file, which may be missing. */
const char *config_path(const struct config_origin *origin);

/*
 * The configuration of a daemon. A name in [access] that cannot be looked up keeps the number that
 * it has in @former (NULL: none is known), and a line in the log says so. Errors as config_load(),
 * and -ENAMETOOLONG; -EINVAL also if a file that was named is missing.
 */
int config_find(const struct config_origin *origin, const struct policy_access *former,
	struct config *ret, struct fault *fault);

/* The same without looking at the file, which is wrong. -ENAMETOOLONG. */
int config_default(const struct config_origin *origin, struct config *ret, struct fault *fault);

/*
 * Reads the configuration of @config again and replaces it, except for keys that need a restart.
 * Calls @kept with "[section] key" for each of these that has changed. Errors as config_find();
 * @config then keeps its content, and says why in .refused.
 */
int config_reload(struct config *config, void (*kept)(const char *key), struct fault *fault);
