/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The metrics but for those of numbers.h and perfevent.h: one table with the number, type, unit and
 * meaning of each. Numbers never change (see pmns): archives identify a metric by its number.
 */
#pragma once

#include <pcp/pmapi.h>
#include <pcp/pmda.h>

#include "pmda/contexts.h"
#include "pmda/view.h"

/* The table for pmdaInit(), which fills in the domain. */
extern pmdaMetric metrics_table[];
extern const unsigned metrics_n;

/* Sets where values come from. */
void metrics_use(const struct view *view);

/* Sets the client that the next values are for; NULL: it is unknown, for lack of memory. */
void metrics_answer(const struct context *context);

/* May that client be told the snapshot? 0; PM_ERR_AGAIN: there is none; PM_ERR_PERMISSION. */
int metrics_may_tell(void);

/*
 * pmdaFetch()'s callback: PM_ERR_AGAIN while there is no snapshot; PM_ERR_PERMISSION for a
 * client that the site's policy does not admit; no value where the metric is absent.
 */
int metrics_value(pmdaMetric *metric, unsigned inst, pmAtomValue *ret);

/* uncored's name of the metric that is counted for a job: "dram.read"; NULL: not such a metric. */
const char *metrics_name(pmID pmid);
