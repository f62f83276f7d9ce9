/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Readings for the estimate of what regions that overlap moved (client/estimate/estimate.h). At a
 * reading of the team, the member that took it is the observer: it notes how long all threads of
 * the team were in each region since the last observation, and what each socket moved. One member
 * observes at a time; another one that has a reading then goes on without.
 *
 * Where regions overlap, readings are taken for it that nothing else needs. They are at least 1 ms
 * apart, 20 times as far as a sweep or an observation takes, and as far as the site wants.
 */
#pragma once

#include "client/region/member.h"
#include "client/region/reading.h"

/* Do threads of the team do different things now, and is it time to observe them? True for one
 * member. */
bool observe_is_due(const struct member *member, uint64_t now_ns);

/* Observes with @reading, which was taken, unless the last observation is too near. */
void observe(const struct member *member, const struct reading *reading);

/* The sums of this table. False: it has none: it counts too much on too many sockets. */
bool observe_sums(const struct table *table, struct estimate *ret);
