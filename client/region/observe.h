/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Readings for the estimate of the traffic of overlapping regions (client/estimate/estimate.h). The
 * member that takes a reading of the team is the observer. It notes how long all threads of the
 * team were in each region since the last observation, and what each socket moved. One member
 * observes at a time; another member that has a reading meanwhile does not observe.
 *
 * While regions overlap, extra readings are taken for the estimate alone. The gap between them is
 * at least 2 ms, at least 20 times the duration of a sweep or of an observation, and at least what
 * the site demands.
 */
#pragma once

#include "client/region/member.h"
#include "client/region/reading.h"

/*
 * Are threads of the team in different regions now, and is an observation due? True for only one
 * member.
 */
bool observe_is_due(const struct member *member, uint64_t now_ns);

/* Observes with @reading, which has been taken, unless the last observation is too recent. */
void observe(const struct member *member, const struct reading *reading);

/* Was there ever an observation? If not, the sums are empty, and may have no memory. */
bool observe_was_any(const struct table *table);

/* The sums of this table. If there are several sockets, one more follows: all of them together.
 * What the threads do says nothing about the socket, so only their sum follows them closely. False:
 * there are none, because of too many sockets and metrics. */
bool observe_sums(const struct table *table, struct estimate *ret);
