/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names of the stock perfevent agent, for PAPI's pcp component and for scripts:
 * perfevent.hwcounters.PMU.EVENT.value, raw counts, instances cpuN.
 *
 * That component crashes on any error and finds values by their position (PAPI,
 * src/components/pcp/linux-pcp.c), so this tree has special rules. The first good snapshot, or the
 * record of an earlier run of the agent (saved.h), fixes names, numbers, instances and their order
 * for as long as the agent runs. A later fetch without a snapshot gets the last good count. Counts
 * never go back: counts of a new generation of uncored are added to the former counts.
 */
#pragma once

#include <pcp/pmapi.h>
#include <pcp/pmda.h>

#include "pmda/contexts.h"

/*
 * The metrics of the tree, for the agent's table; NULL and 0 while there is no tree. Once there are
 * metrics, they never change. Their numbers are of domain @domain.
 */
const pmdaMetric *perfevent_metrics(int domain, unsigned *ret_n);

/* The names below perfevent; NULL while there is no tree. */
pmdaNameSpace *perfevent_names(int domain);

/* A copy of all present counts, which the caller owns, for free(3). @former: the copy that it
 * replaces, or NULL. NULL: there is no memory or no tree, and @former is freed. */
uint64_t *perfevent_copy_counts(uint64_t *former);

/*
 * The value of a metric of perfevent_metrics() on the CPU of instance @inst for the client @reader;
 * NULL: it is unknown. PAPI crashes if a value is missing. A client that is not admitted, or whose
 * admission is not known while uncored is away, keeps the counts that it was told last. After a
 * restart of the agent these are lost: the client gets the recorded counts, if everybody may read
 * them, and otherwise 0. perfevent.uncored.up is 0 in all these cases.
 */
int perfevent_value(const struct context *reader, pmID pmid, unsigned inst, pmAtomValue *ret);

/* The help on a metric of perfevent_metrics(), in one line or more; NULL: no such metric. */
const char *perfevent_help(pmID pmid, bool one_line);

/* The CPU of instance @inst. */
unsigned perfevent_cpu(unsigned inst);
