/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/read/batch.h"

enum {
	CLIENTS_MIN = 2,
	SOON_NS = 50000, /* a ring this soon after an answer is late for it */
	QUIET_ONES = 2,  /* after so many quiet last moments, one fewer will do */
	LATE_ONES = 16,  /* this many late rings make a batch; one busy client makes fewer */
};

void batch_learn(struct doorbell *doorbell, uint64_t now_ns)
{
	bool all_came = doorbell->all_came;

	doorbell->all_came = false;
	if (all_came || now_ns - doorbell->answered_ns > SOON_NS)
		return;
	if (!doorbell->moments && ++doorbell->n_late < LATE_ONES)
		return;
	doorbell->n_late = 0;
	doorbell->n_quiet = 0;
	/* One moment per client is enough: with 20 for 8 clients, 1 answer in 100 took 1 ms. */
	if (doorbell->moments < BATCH_MOMENTS && doorbell->moments < doorbell->n_clients)
		doorbell->moments++;
}

/* A claim that was put off has already waited long enough for others. */
static bool may_be_batch(const struct doorbell *doorbell)
{
	return doorbell->n_clients >= CLIENTS_MIN && !doorbell->check_ns;
}

unsigned batch_moments(const struct doorbells *d)
{
	unsigned moments = BATCH_MOMENTS;

	for (unsigned i = 0; i < d->n_busy; i++) {
		const struct doorbell *doorbell = &d->places[d->busy[i]];

		if (!doorbell->rang && doorbell->claim != CLAIM_JOINS)
			continue;
		if (!may_be_batch(doorbell))
			return 0;
		if (doorbell->moments < moments)
			moments = doorbell->moments;
	}
	return moments;
}

void batch_note_quiet(struct doorbells *d)
{
	for (unsigned i = 0; i < d->n_busy; i++) {
		struct doorbell *doorbell = &d->places[d->busy[i]];

		if (doorbell->claim != CLAIM_JOINS || !doorbell->moments)
			continue;
		doorbell->all_came = true;
		if (++doorbell->n_quiet < QUIET_ONES)
			continue;
		doorbell->n_quiet = 0;
		doorbell->moments--;
	}
}
