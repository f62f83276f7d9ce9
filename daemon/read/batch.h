/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Batches: rings that share a sweep. The clients of a user that ring together, such as the ranks of
 * a job behind a barrier, are better answered by one sweep than by several. So the sweep waits for
 * some moments, in which these clients get the reader's CPU.
 *
 * How many moments a user's clients take, one each at most, is learned from the rings that come
 * late: soon after an answer. A single client that reads without pause rings so, too. Therefore
 * only many late rings begin a batch, and moments without a ring end it. The only client of a user
 * never waits: neither for others of its own user nor for another user's batch.
 *
 * All functions are called with the reader's lock held.
 */
#pragma once

#include <stdint.h>

#include "daemon/read/doorbells.h"

enum { BATCH_MOMENTS = 20 }; /* that a batch is waited for at most */

/* A claim of @doorbell is admitted now: learns whether its ring was late for the last answer. */
void batch_learn(struct doorbell *doorbell, uint64_t now_ns);

/* For how many moments all users that are admitted, and all that rang since, have to wait. */
unsigned batch_moments(const struct doorbells *doorbells);

/* ... and in the last of them nobody rang. After some of these, one moment fewer will do. */
void batch_note_quiet(struct doorbells *doorbells);
