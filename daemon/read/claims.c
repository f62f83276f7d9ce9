/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/read/claims.h"

#include "common/clock.h"
#include "daemon/read/batch.h"

enum {
	LOOK_NS = 1000000,
	SPINNERS = 2, /* a client, and one that is leaving or another handle of its process */
};

/* --- admission --- */

/* Asks the budget for all claims in each turn: a claim that was put off may be admitted sooner if
 * others needed less. */
bool claims_admit(struct doorbells *d, uint64_t now_ns)
{
	bool admitted = false;

	d->n_waiting = 0;
	for (unsigned i = 0; i < d->n_busy; i++) {
		struct doorbell *doorbell = &d->places[d->busy[i]];

		if (!doorbell_waits(doorbell))
			continue;
		if (budget_ask(&d->budget, doorbell->account, now_ns)) {
			doorbell->claim = CLAIM_WAITS;
			d->n_waiting++;
		} else {
			doorbell->claim = CLAIM_JOINS;
			batch_learn(doorbell, now_ns);
			admitted = true;
		}
	}
	return admitted;
}

void claims_join(struct doorbells *d, uint64_t now_ns, uint32_t spin_ns)
{
	for (unsigned i = 0; i < d->n_busy; i++) {
		struct doorbell *doorbell = &d->places[d->busy[i]];

		if (doorbell->claim == CLAIM_WAITS &&
			budget_may_join(&d->budget, doorbell->account, now_ns))
			doorbell->claim = CLAIM_JOINS;
		if (doorbell->claim != CLAIM_JOINS)
			continue;
		page_wakeup_let_spin(
			doorbell->wakeup, doorbell->n_clients <= SPINNERS ? spin_ns : 0);
		page_wakeup_redeem(doorbell->wakeup);
		doorbells_mute(d, d->busy[i], false);
	}
}

/* --- waking --- */

static void wake_portion(struct doorbell *doorbell)
{
	uint64_t begin_ns = clock_now_ns();
	unsigned n = page_wakeup_wake(doorbell->wakeup, CLAIMS_PORTION);

	doorbell->n_woken += n;
	doorbell->half_woken = n == CLAIMS_PORTION;
	doorbell->more_ns = 0;
	doorbell->wake_ns += clock_now_ns() - begin_ns;
}

static void claims_answer_one(struct doorbell *doorbell)
{
	doorbell->claim = CLAIM_ANSWERED;
	doorbell->n_woken = 0;
	page_wakeup_announce(doorbell->wakeup);
	wake_portion(doorbell);
}

/* Users that wait for a sweep come first. Waiters that still sleep check by themselves now and
 * then. */
static void wake_on(struct doorbells *d, struct doorbell *doorbell)
{
	uint64_t now_ns = clock_now_ns(), wait_ns;

	if (doorbell->more_ns > now_ns)
		return;
	wait_ns = budget_ask_ignoring_intervals(&d->budget, doorbell->account, now_ns);
	if (!wait_ns && d->n_waiting > (doorbell->claim == CLAIM_WAITS))
		wait_ns = LOOK_NS;
	if (wait_ns)
		doorbell->more_ns = now_ns + wait_ns;
	else
		wake_portion(doorbell);
}

void claims_wake(struct doorbells *d, unsigned i, bool many)
{
	struct doorbell *doorbell = &d->places[d->busy[i]];

	if ((doorbell->n_woken >= CLAIMS_PORTION) != many || doorbell->claim == CLAIM_ANSWERED)
		return;
	if (doorbell->claim == CLAIM_JOINS)
		claims_answer_one(doorbell);
	else if (doorbell->half_woken)
		wake_on(d, doorbell);
}

void claims_keep(struct doorbells *d, const struct page_sweep *sweep)
{
	for (unsigned i = 0; i < d->n_busy && d->kept; i++)
		if (d->places[d->busy[i]].claim == CLAIM_ANSWERED)
			doorbells_end_kept(d, d->busy[i], sweep);
}

/* --- payment --- */

/* The times of waking include waits of the thread for its CPU, so users together pay at most
 * @cost_ns. Returns the rest of @cost_ns. */
static uint64_t charge_wakes(struct doorbells *d, uint64_t cost_ns)
{
	for (unsigned i = 0; i < d->n_busy; i++) {
		struct doorbell *doorbell = &d->places[d->busy[i]];
		uint64_t own_ns = doorbell->wake_ns < cost_ns ? doorbell->wake_ns : cost_ns;

		budget_charge(&d->budget, doorbell_payer(doorbell), own_ns);
		doorbell->wake_ns = 0;
		cost_ns -= own_ns;
	}
	return cost_ns;
}

static bool pays(const struct doorbell *doorbell, bool for_sweep)
{
	return for_sweep ? doorbell->claim == CLAIM_ANSWERED : doorbell->rang;
}

static void charge_shares(struct doorbells *d, bool for_sweep, uint64_t cost_ns)
{
	unsigned n = 0;

	for (unsigned i = 0; i < d->n_busy; i++)
		n += pays(&d->places[d->busy[i]], for_sweep);
	for (unsigned i = 0; i < d->n_busy; i++) {
		struct doorbell *doorbell = &d->places[d->busy[i]];

		if (pays(doorbell, for_sweep)) {
			/* The last user pays the rest, so that rounding loses nothing. */
			uint64_t share_ns = n > 1 ? cost_ns / n : cost_ns;

			budget_charge(&d->budget, doorbell_payer(doorbell), share_ns);
			cost_ns -= share_ns;
			n--;
		}
		if (doorbell->claim == CLAIM_ANSWERED)
			budget_answered(&d->budget, doorbell_payer(doorbell));
	}
}

static void end_turn(struct doorbells *d, uint64_t now_ns)
{
	unsigned n = 0;

	for (unsigned i = 0; i < d->n_busy; i++) {
		uint32_t place = d->busy[i];
		struct doorbell *doorbell = &d->places[place];

		if (doorbell->claim == CLAIM_ANSWERED) {
			doorbell->answered_ns = now_ns;
			doorbell->claim = CLAIM_NONE;
		}
		doorbell->rang = false;
		doorbell->former = 0;
		doorbell->listed = doorbell_waits(doorbell) || doorbell->half_woken;
		if (doorbell->listed)
			d->busy[n++] = place;
	}
	d->n_busy = n;
}

/* --- claims that wait on --- */

/* Tells the library how long to wait, so it need not ring again. */
static void put_off(struct doorbells *d, struct doorbell *doorbell, uint64_t due_ns)
{
	if (!doorbell->check_ns) {
		d->throttled++;
		budget_put_off(&d->budget, doorbell->account);
	}
	doorbell->check_ns = due_ns;
	page_wakeup_claim(doorbell->wakeup, due_ns);
}

static uint64_t wait_ns(struct doorbells *d, const struct doorbell *doorbell, uint64_t now_ns)
{
	if (doorbell->n_clients == 1)
		return budget_ask_for_some(&d->budget, doorbell->account, now_ns);
	return budget_ask(&d->budget, doorbell->account, now_ns);
}

/* Comes after all charges. Otherwise the reader would look at claims before it can admit them. */
static void put_off_waiting(struct doorbells *d, uint64_t now_ns)
{
	for (unsigned i = 0; i < d->n_busy; i++) {
		struct doorbell *doorbell = &d->places[d->busy[i]];

		if (doorbell_waits(doorbell))
			put_off(d, doorbell, now_ns + wait_ns(d, doorbell, now_ns));
	}
}

void claims_charge(struct doorbells *d, uint64_t begin_ns, uint64_t cost_ns, uint64_t now_ns)
{
	cost_ns = charge_wakes(d, cost_ns);
	if (begin_ns)
		budget_swept(&d->budget, begin_ns, cost_ns);
	charge_shares(d, begin_ns != 0, cost_ns);
	put_off_waiting(d, now_ns);
	end_turn(d, now_ns);
}

int64_t claims_due_ns(const struct doorbells *d, uint64_t now_ns)
{
	uint64_t due_ns = UINT64_MAX;

	for (unsigned i = 0; i < d->n_busy; i++) {
		const struct doorbell *doorbell = &d->places[d->busy[i]];

		if (doorbell_waits(doorbell) && doorbell->check_ns < due_ns)
			due_ns = doorbell->check_ns;
		if (doorbell->half_woken && doorbell->more_ns < due_ns)
			due_ns = doorbell->more_ns;
	}
	if (due_ns == UINT64_MAX)
		return -1;
	return due_ns > now_ns ? (int64_t)(due_ns - now_ns) : 0;
}
