/* SPDX-License-Identifier: BSD-3-Clause */
/* uncored.conf, with uncored.conf.d/: every key with its default, unit and range is in the table of
 * config.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/page.h"
#include "daemon/base/fault.h"
#include "daemon/site/policy.h"

enum { CONFIG_BYTES_MAX = 16777216 }; /* as PLATFORM_BYTES_MAX */

/* The worth of one count of a metric, as the site sets it. */
struct config_calibration {
	char metric[PAGE_NAME_MAX];
	uint32_t bytes;
};

/* Where a configuration came from, to read it again; both texts are borrowed. */
struct config_origin {
	const char *path;        /* NULL: the default, which need not exist */
	const char *socket_path; /* overrides the file; NULL: none */
};

struct config {
	struct config_origin origin;
	const struct policy_access *former; /* only while it is read: see config_load() */
	char socket_path[108];              /* sun_path */
	uint32_t socket_mode;               /* octal */
	struct policy_access access;
	struct policy_disclosure disclosure;
	char platform[32];             /* name of a platform file; "": recognise the machine */
	uint32_t max_clients;          /* connections in all; 0: four times those of one user */
	uint32_t max_clients_per_user; /* connections of one user; 0: from the number of CPUs */
	uint32_t requests_per_second;  /* of one connection; further requests wait */
	uint32_t budget_percent;       /* percent of one CPU for the sweeps of one socket */
	uint32_t burst_ms;             /* sweep time that may be saved up */
	char enabled_metrics[1024];    /* names or globs, with blanks between */
	char disabled_metrics[1024];   /* the same */
	unsigned n_calibrations;
	struct config_calibration calibrations[PAGE_METRICS_MAX];
	char sweep_method[8]; /* auto, read, bpf: see snapshot.h */
	bool realtime;        /* readers run in SCHED_FIFO, if the system permits it */
	struct fault refused; /* why the file is wrong and this older content applies; or "" */
};

/*
 * Reads @path and the files of @path.d (config-files.h) on top of the defaults; NULL: defaults
 * only. A file that exists must be valid. A name
 * in [access] that cannot be looked up keeps the number that it has in @former (NULL: no numbers
 * are known), and the log says so. 0; -ENOENT and other errno of open(2); -EINVAL: the fault names
 * file, line and key.
 */
int config_load(const char *path, const struct policy_access *former, struct config *ret,
	struct fault *fault);

/* The path of the file, which may be missing. */
const char *config_path(const struct config_origin *origin);

/* The configuration of a daemon. Errors of config_load(), and -ENAMETOOLONG; -EINVAL also if a file
 * that was named is missing. */
int config_find(const struct config_origin *origin, const struct policy_access *former,
	struct config *ret, struct fault *fault);

/* The same without the file, for a file that is wrong. -ENAMETOOLONG. */
int config_default(const struct config_origin *origin, struct config *ret, struct fault *fault);

/*
 * Reads the configuration of @config again and replaces it, except for keys that need a restart.
 * Calls @kept with "[section] key" for each such key that has changed. Errors of config_find():
 * then @config keeps its content, and .refused says why.
 */
int config_reload(struct config *config, void (*kept)(const char *key), struct fault *fault);
