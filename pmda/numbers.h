/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The metrics of a platform file, and their numbers. Those of uncored's own files are in
 * metric-numbers; the site gives its own metrics their numbers in its file (uncore-platform(5)). A
 * metric without a number is not served, and the log says so. Metrics that are not in pmns are
 * uncore.metric.NAME.
 *
 * The site's metrics are those of the last connection; they stay while uncored is away.
 */
#pragma once

#include <pcp/pmapi.h>
#include <pcp/pmda.h>
#include <stdbool.h>

#include "pmda/view.h"

struct number {
	unsigned cluster, item;
	char name[UNCORE_NAME_MAX], unit[UNCORE_NAME_MAX]; /* as in platform files */
};

/* Takes the site's metrics of a new connection. True: they are others than before. */
bool numbers_use(const struct view *view);

/* The metrics, for the agent's table; valid until the next numbers_use(). */
const pmdaMetric *numbers_metrics(int domain, unsigned *ret_n);

/* The metric with this number; NULL: there is none. */
const struct number *numbers_find(pmID pmid);

/* The value of a metric in a snapshot; none if its unit is another one there. */
int numbers_value(
	const struct view *view, const struct number *number, unsigned socket, pmAtomValue *ret);

/* The names below uncore.metric; NULL: there is no memory. */
pmdaNameSpace *numbers_names(int domain);

/* The help on a metric below uncore.metric, in one line or more; NULL: there is no such metric. */
const char *numbers_help(pmID pmid, bool one_line);
