/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Batches: rings that share a sweep. Some clients of a user ring together, such as the ranks of a
 * job behind a barrier. One sweep answers them better than several. So the sweep waits for some
 * moments, in which these clients get the reader's CPU.
 *
 * The reader learns from late rings how many moments a user's clients need, at most one each. A
 * ring is late if it comes soon after an answer. A single client that reads without pause also
 * rings soon after an answer. Therefore only many late rings begin a batch, and moments without a
 * ring end it. The only client of a user never waits: neither for others of its own user nor for
 * another user's batch.
 *
 * All functions are called with the reader's lock held.
 */
#pragma once

#include <stdint.h>

#include "daemon/read/doorbells.h"

enum { BATCH_MOMENTS = 20 }; /* a sweep waits at most so many for a batch */

/* A claim of @doorbell is admitted now: learns whether its ring was late for the last answer. */
void batch_learn(struct doorbell *doorbell, uint64_t now_ns);

/* The number of moments that all admitted users, and all users that rang since, have to wait. */
unsigned batch_moments(const struct doorbells *doorbells);

/* Nobody rang in the last of these moments. After some such answers, one moment fewer will do. */
void batch_note_quiet(struct doorbells *doorbells);
