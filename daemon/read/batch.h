/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Batches: rings that share a sweep. Some clients of a user ring together, for example the ranks of
 * a job after a barrier. One sweep for all of them is better than several. So the reader waits for
 * some moments before the sweep, and these clients get its CPU meanwhile.
 *
 * The reader learns from late rings how many moments a user's clients need, at most one for each. A
 * ring is late if it comes soon after an answer. A single client that reads without pause also
 * rings soon after an answer. Therefore only many late rings begin a batch, and moments without a
 * ring end it. The only client of a user never waits, neither for other clients nor for another
 * user's batch.
 *
 * All functions are called with the doorbells' lock held.
 */
#pragma once

#include <stdint.h>

#include "daemon/read/doorbells.h"

enum { BATCH_MOMENTS = 20 }; /* the most that a sweep waits for a batch */

/* To be called when a claim of @doorbell is admitted. Learns whether its ring was late for the last
 * answer. */
void batch_learn(struct doorbell *doorbell, uint64_t now_ns);

/* How many moments to wait: the smallest number among the users that are admitted or rang since. 0:
 * one of them must not wait, or does not need to. */
unsigned batch_moments(const struct doorbells *doorbells);

/* To be called if nobody rang in the last moment. After some such answers, one moment fewer will
 * do. */
void batch_note_quiet(struct doorbells *doorbells);
