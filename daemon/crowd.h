/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who rings together, such as the ranks of a job behind a barrier.
 *
 * The first of them is answered at once. While that sweep runs, or just after it, the others ring
 * one by one, and each would get a sweep of its own. So rings are counted in rounds: a round is
 * over when somebody rings a second time, or after a silence. How many rang in the last round tells
 * how many are worth waiting for in this one. Whoever reads alone never waits.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct crowd {
	uint32_t round;
	unsigned n_rang;     /* in this round */
	unsigned n_expected; /* as many rang in the last */
	uint64_t swept_ns;   /* end of the last sweep of this round; 0: none yet */
};

/* The round of a doorbell that has never rung: belongs to none. */
enum { CROWD_NO_ROUND = 0 };

/* One ring, of the doorbell that keeps *@doorbell_round; may begin a new round. */
void crowd_ring(struct crowd *crowd, uint32_t *doorbell_round, uint64_t now_ns);

/* Some were answered in this round already, and others of the last round have yet to ring. */
bool crowd_is_incomplete(const struct crowd *crowd);

/* Somebody reads alone, as far as this round and the last one tell. */
bool crowd_is_one(const struct crowd *crowd);

void crowd_swept(struct crowd *crowd, uint64_t now_ns);
