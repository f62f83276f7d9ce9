/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/crowd.h"

/* Ranks leave a barrier within microseconds, but may have to wait for each other's CPU. */
static const uint64_t SILENCE_NS = 1000000;

static bool is_over(const struct crowd *crowd, uint32_t doorbell_round, uint64_t now_ns)
{
	return doorbell_round == crowd->round || crowd->round == CROWD_NO_ROUND ||
	       (crowd->swept_ns && now_ns - crowd->swept_ns > SILENCE_NS);
}

void crowd_ring(struct crowd *crowd, uint32_t *doorbell_round, uint64_t now_ns)
{
	if (is_over(crowd, *doorbell_round, now_ns)) {
		uint32_t round = crowd->round + 1;

		*crowd = (struct crowd){
			.round = round == CROWD_NO_ROUND ? round + 1 : round,
			.n_expected = crowd->n_rang,
		};
	}
	*doorbell_round = crowd->round;
	crowd->n_rang++;
}

bool crowd_is_incomplete(const struct crowd *crowd)
{
	return crowd->swept_ns && crowd->n_rang < crowd->n_expected;
}

bool crowd_is_one(const struct crowd *crowd)
{
	return crowd->n_rang <= 1 && crowd->n_expected <= 1;
}

void crowd_swept(struct crowd *crowd, uint64_t now_ns)
{
	crowd->swept_ns = now_ns;
}
