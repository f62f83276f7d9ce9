/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/read/doorbells.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macro.h"

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441 /* since Linux 5.11, the same everywhere */
#endif

static const uint64_t ORDER = UINT64_MAX, SECOND_NS = 1000000000;

enum {
	NS_PER_MS = 1000000,
	LOOK_NS = 1000000,
	BATCH_MIN = 2,
	SPINNERS = 2,    /* a client, and one that goes, or another handle of the same process */
	SOON_NS = 50000, /* after an answer: who rings then was too late for it, in a batch */
	QUIET_ONES = 2,  /* last moments without a ring: one fewer will do */
	LATE_ONES = 16,  /* that make a batch: it may be one client that reads without pause */
};

/* --- watching --- */

/* Edge-triggered: each write is an edge, and nobody needs to drain the doorbell. */
static const uint32_t EDGES = EPOLLIN | EPOLLET;

static int watch(int epoll_fd, int fd, uint64_t data)
{
	struct epoll_event event = { .events = EDGES, .data.u64 = data };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static uint64_t data_of(const struct doorbells *d, unsigned place)
{
	return (uint64_t)d->places[place].use << 32 | place;
}

/* A doorbell that is heard again, and was ever rung, is reported once, as nobody drains it. */
static void mute(struct doorbells *d, unsigned place, bool muted)
{
	struct epoll_event event = { .events = muted ? 0 : EDGES, .data.u64 = data_of(d, place) };

	if (d->places[place].muted == muted)
		return;
	epoll_ctl(d->epoll_fd, EPOLL_CTL_MOD, d->places[place].fd, &event);
	d->places[place].muted = muted;
}

int doorbells_init(struct doorbells *d, const struct budget_rules *rules)
{
	*d = (struct doorbells){
		.epoll_fd = epoll_create1(EPOLL_CLOEXEC),
		.order_fd = eventfd(0, EFD_CLOEXEC),
	};
	if (d->epoll_fd < 0 || d->order_fd < 0)
		return -errno;
	/* Most of it is never touched, and so takes no memory. */
	d->places = calloc(DOORBELLS_PLACES, sizeof *d->places);
	d->busy = calloc(DOORBELLS_PLACES, sizeof *d->busy);
	if (!d->places || !d->busy || budget_init(&d->budget, rules, DOORBELLS_PLACES) < 0)
		return -ENOMEM;
	return watch(d->epoll_fd, d->order_fd, ORDER);
}

void doorbells_done(struct doorbells *d)
{
	budget_done(&d->budget);
	free(d->busy);
	free(d->places);
	close_fd(&d->order_fd);
	close_fd(&d->epoll_fd);
	*d = (struct doorbells){ .epoll_fd = -1, .order_fd = -1 };
}

int doorbells_watch(struct doorbells *d, unsigned place, int fd)
{
	int r = watch(d->epoll_fd, fd, data_of(d, place));

	if (r < 0)
		return r;
	d->places[place].fd = fd;
	d->places[place].muted = false;
	return 0;
}

static unsigned payer_of(const struct doorbell *doorbell)
{
	return doorbell->former ? doorbell->former - 1 : doorbell->account;
}

/* The place may be free since this very turn, which its former user is still to be charged for. */
int doorbells_add(
	struct doorbells *d, unsigned place, unsigned account, int fd, struct page_wakeup *wakeup)
{
	struct doorbell *doorbell = &d->places[place];

	*doorbell = (struct doorbell){
		.used = true,
		.listed = doorbell->listed,
		.rang = doorbell->rang,
		.answered = doorbell->answered,
		.wake_ns = doorbell->wake_ns,
		.former = doorbell->listed ? payer_of(doorbell) + 1 : 0,
		.use = doorbell->use + 1,
		.account = account,
		.wakeup = wakeup,
	};
	page_wakeup_redeem(wakeup);
	return doorbells_watch(d, place, fd);
}

/* What it cost is charged to its account all the same. */
void doorbells_remove(struct doorbells *d, unsigned place)
{
	struct doorbell *doorbell = &d->places[place];

	doorbell->used = false;
	doorbell->waits = false;
	doorbell->joins = false;
	doorbell->half_woken = false;
	doorbell->wakeup = NULL;
	doorbell->fd = -1;
}

void doorbells_set_rules(struct doorbells *d, const struct budget_rules *rules)
{
	d->budget.rules = *rules;
	for (unsigned i = 0; i < d->n_busy; i++) {
		d->places[d->busy[i]].check_ns = 0;
		d->places[d->busy[i]].more_ns = 0;
	}
}

/* --- who rang --- */

/* In ns where the kernel can, else in ms. */
static int wait_for_events(struct doorbells *d, int64_t timeout_ns)
{
	const struct timespec timeout = { timeout_ns / (int64_t)SECOND_NS,
		timeout_ns % (int64_t)SECOND_NS };
	int64_t timeout_ms = (timeout_ns + NS_PER_MS - 1) / NS_PER_MS;
	long n = syscall(SYS_epoll_pwait2, d->epoll_fd, d->events, DOORBELLS_EVENTS,
		timeout_ns < 0 ? NULL : &timeout, NULL, 0);

	if (n >= 0 || errno != ENOSYS)
		return (int)n;
	return epoll_wait(d->epoll_fd, d->events, DOORBELLS_EVENTS,
		timeout_ns < 0         ? -1
		: timeout_ms > INT_MAX ? INT_MAX
				       : (int)timeout_ms);
}

void doorbells_wait(struct doorbells *d, int64_t timeout_ns)
{
	d->n_events = wait_for_events(d, timeout_ns);
}

static void list_busy(struct doorbells *d, uint32_t place)
{
	if (!d->places[place].listed)
		d->busy[d->n_busy++] = place;
	d->places[place].listed = true;
}

static void note_ring(struct doorbells *d, uint64_t data, uint64_t now_ns)
{
	uint32_t place = (uint32_t)data;
	struct doorbell *doorbell = &d->places[place];

	if (!doorbell->used || doorbell->use != data >> 32)
		return;
	if (doorbell->waits && doorbell->check_ns > now_ns) {
		mute(d, place, true);
		return;
	}
	doorbell->rang = true;
	if (!doorbell->waits)
		doorbell->check_ns = 0;
	doorbell->waits = true;
	list_busy(d, place);
}

bool doorbells_note(struct doorbells *d, uint64_t now_ns)
{
	bool ordered = false;

	for (int i = 0; i < d->n_events; i++)
		if (d->events[i].data.u64 == ORDER)
			ordered = true;
		else
			note_ring(d, d->events[i].data.u64, now_ns);
	d->n_events = 0;
	return ordered;
}

/* --- who is admitted --- */

/* Too late for an answer, of a batch, as it seems. */
static void learn_if_late(struct doorbell *doorbell, uint64_t now_ns)
{
	bool all_came = doorbell->all_came;

	doorbell->all_came = false;
	if (all_came || now_ns - doorbell->answered_ns > SOON_NS)
		return;
	if (!doorbell->moments && ++doorbell->n_late < LATE_ONES)
		return;
	doorbell->n_late = 0;
	doorbell->n_quiet = 0;
	/* Each client needs one at most. With 20 for 8 clients, one answer in 100 took 1 ms. */
	if (doorbell->moments < DOORBELLS_MOMENTS && doorbell->moments < doorbell->n_clients)
		doorbell->moments++;
}

/* All of them at each turn: one that was put off may find that others needed less. */
bool doorbells_admit(struct doorbells *d, uint64_t now_ns)
{
	bool admitted = false;

	d->n_waiting = 0;
	for (unsigned i = 0; i < d->n_busy; i++) {
		struct doorbell *doorbell = &d->places[d->busy[i]];

		if (!doorbell->waits)
			continue;
		doorbell->joins = !budget_ask(&d->budget, doorbell->account, now_ns);
		if (doorbell->joins)
			learn_if_late(doorbell, now_ns);
		admitted |= doorbell->joins;
		d->n_waiting += !doorbell->joins;
	}
	return admitted;
}

/* One that was put off has waited for the others long enough. */
static bool may_be_batch(const struct doorbell *doorbell)
{
	return doorbell->n_clients >= BATCH_MIN && !doorbell->check_ns;
}

unsigned doorbells_expect_more(const struct doorbells *d)
{
	unsigned moments = DOORBELLS_MOMENTS;

	for (unsigned i = 0; i < d->n_busy; i++) {
		const struct doorbell *doorbell = &d->places[d->busy[i]];

		if (!doorbell->rang && !doorbell->joins)
			continue;
		if (!may_be_batch(doorbell))
			return 0;
		if (doorbell->moments < moments)
			moments = doorbell->moments;
	}
	return moments;
}

void doorbells_expect_fewer(struct doorbells *d)
{
	for (unsigned i = 0; i < d->n_busy; i++) {
		struct doorbell *doorbell = &d->places[d->busy[i]];

		if (!doorbell->joins || !doorbell->moments)
			continue;
		doorbell->all_came = true;
		if (++doorbell->n_quiet < QUIET_ONES)
			continue;
		doorbell->n_quiet = 0;
		doorbell->moments--;
	}
}

bool doorbells_join(struct doorbells *d, uint64_t now_ns, uint32_t spin_ns)
{
	unsigned n_clients = 0;

	for (unsigned i = 0; i < d->n_busy; i++) {
		struct doorbell *doorbell = &d->places[d->busy[i]];

		if (doorbell->waits && !doorbell->joins)
			doorbell->joins = budget_may_join(&d->budget, doorbell->account, now_ns);
		if (!doorbell->joins)
			continue;
		page_wakeup_let_spin(
			doorbell->wakeup, doorbell->n_clients <= SPINNERS ? spin_ns : 0);
		page_wakeup_redeem(doorbell->wakeup);
		mute(d, d->busy[i], false);
		n_clients += doorbell->n_clients;
	}
	return n_clients == 1;
}

/* --- who is woken --- */

static void wake_portion(struct doorbell *doorbell)
{
	uint64_t begin_ns = clock_now_ns();
	unsigned n = page_wakeup_wake(doorbell->wakeup, DOORBELLS_PORTION);

	doorbell->n_woken += n;
	doorbell->half_woken = n == DOORBELLS_PORTION;
	doorbell->more_ns = 0;
	doorbell->wake_ns += clock_now_ns() - begin_ns;
}

static void answer(struct doorbell *doorbell)
{
	doorbell->waits = false;
	doorbell->joins = false;
	doorbell->answered = true;
	doorbell->n_woken = 0;
	page_wakeup_announce(doorbell->wakeup);
	wake_portion(doorbell);
}

/* Those who wait for a sweep come first. A waiter that sleeps on looks by itself now and then. */
static void wake_on(struct doorbells *d, struct doorbell *doorbell)
{
	uint64_t now_ns = clock_now_ns(), wait_ns;

	if (doorbell->more_ns > now_ns)
		return;
	wait_ns = budget_ask_within_intervals(&d->budget, doorbell->account, now_ns);
	if (!wait_ns && d->n_waiting > doorbell->waits)
		wait_ns = LOOK_NS;
	if (wait_ns)
		doorbell->more_ns = now_ns + wait_ns;
	else
		wake_portion(doorbell);
}

void doorbells_wake(struct doorbells *d, unsigned i, bool many)
{
	struct doorbell *doorbell = &d->places[d->busy[i]];

	if ((doorbell->n_woken >= DOORBELLS_PORTION) != many || doorbell->answered)
		return;
	if (doorbell->joins)
		answer(doorbell);
	else if (doorbell->half_woken)
		wake_on(d, doorbell);
}

/* --- who pays --- */

/* The clock went on if the thread had to wait for its CPU meanwhile: nobody pays more than was
 * spent. Returns what is left of @cost_ns. */
static uint64_t charge_wakes(struct doorbells *d, uint64_t cost_ns)
{
	for (unsigned i = 0; i < d->n_busy; i++) {
		struct doorbell *doorbell = &d->places[d->busy[i]];
		uint64_t own_ns = doorbell->wake_ns < cost_ns ? doorbell->wake_ns : cost_ns;

		budget_charge(&d->budget, payer_of(doorbell), own_ns);
		doorbell->wake_ns = 0;
		cost_ns -= own_ns;
	}
	return cost_ns;
}

static bool pays(const struct doorbell *doorbell, bool for_sweep)
{
	return for_sweep ? doorbell->answered : doorbell->rang;
}

static void charge_shares(struct doorbells *d, bool for_sweep, uint64_t cost_ns)
{
	unsigned n = 0;

	for (unsigned i = 0; i < d->n_busy; i++)
		n += pays(&d->places[d->busy[i]], for_sweep);
	cost_ns /= n ? n : 1;
	for (unsigned i = 0; i < d->n_busy; i++) {
		struct doorbell *doorbell = &d->places[d->busy[i]];

		if (pays(doorbell, for_sweep))
			budget_charge(&d->budget, payer_of(doorbell), cost_ns);
		if (doorbell->answered)
			budget_answered(&d->budget, payer_of(doorbell));
	}
}

static void end_turn(struct doorbells *d, uint64_t now_ns)
{
	unsigned n = 0;

	for (unsigned i = 0; i < d->n_busy; i++) {
		uint32_t place = d->busy[i];
		struct doorbell *doorbell = &d->places[place];

		if (doorbell->answered)
			doorbell->answered_ns = now_ns;
		doorbell->rang = false;
		doorbell->answered = false;
		doorbell->former = 0;
		doorbell->listed = doorbell->waits || doorbell->half_woken;
		if (doorbell->listed)
			d->busy[n++] = place;
	}
	d->n_busy = n;
}

/* --- who waits on --- */

/* The library need not ring again, and knows how long to wait. */
static void put_off(struct doorbells *d, struct doorbell *doorbell, uint64_t due_ns)
{
	d->throttled += !doorbell->check_ns;
	doorbell->check_ns = due_ns;
	page_wakeup_claim(doorbell->wakeup, due_ns);
}

static uint64_t wait_ns(struct doorbells *d, const struct doorbell *doorbell, uint64_t now_ns)
{
	if (doorbell->n_clients == 1)
		return budget_ask_for_some(&d->budget, doorbell->account, now_ns);
	return budget_ask(&d->budget, doorbell->account, now_ns);
}

/* After all is paid, or they would be looked at before they can be admitted. */
static void put_off_waiting(struct doorbells *d, uint64_t now_ns)
{
	for (unsigned i = 0; i < d->n_busy; i++) {
		struct doorbell *doorbell = &d->places[d->busy[i]];

		if (doorbell->waits)
			put_off(d, doorbell, now_ns + wait_ns(d, doorbell, now_ns));
	}
}

void doorbells_charge(struct doorbells *d, uint64_t begin_ns, uint64_t cost_ns, uint64_t now_ns)
{
	cost_ns = charge_wakes(d, cost_ns);
	if (begin_ns)
		budget_swept(&d->budget, begin_ns, cost_ns);
	charge_shares(d, begin_ns != 0, cost_ns);
	put_off_waiting(d, now_ns);
	end_turn(d, now_ns);
}

int64_t doorbells_due_ns(const struct doorbells *d, uint64_t now_ns)
{
	uint64_t due_ns = UINT64_MAX;

	for (unsigned i = 0; i < d->n_busy; i++) {
		const struct doorbell *doorbell = &d->places[d->busy[i]];

		if (doorbell->waits && doorbell->check_ns < due_ns)
			due_ns = doorbell->check_ns;
		if (doorbell->half_woken && doorbell->more_ns < due_ns)
			due_ns = doorbell->more_ns;
	}
	if (due_ns == UINT64_MAX)
		return -1;
	return due_ns > now_ns ? (int64_t)(due_ns - now_ns) : 0;
}
