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

/* --- watching --- */

/* Edge-triggered: each write is an edge, and nobody needs to drain the doorbell. */
static const uint32_t EDGES = EPOLLIN | EPOLLET;

static int doorbells_watch_fd(int epoll_fd, int fd, uint64_t data)
{
	struct epoll_event event = { .events = EDGES, .data.u64 = data };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static uint64_t doorbells_data_of(const struct doorbells *d, unsigned place)
{
	return (uint64_t)d->places[place].use << 32 | place;
}

void doorbells_mute(struct doorbells *d, unsigned place, bool muted)
{
	struct epoll_event event = { .events = muted ? 0 : EDGES,
		.data.u64 = doorbells_data_of(d, place) };

	if (d->places[place].muted == muted)
		return;
	epoll_ctl(d->epoll_fd, EPOLL_CTL_MOD, d->places[place].fd, &event);
	d->places[place].muted = muted;
}

/* The main thread is not real-time. If the reader waits for the lock, its holder runs at the
 * reader's priority. */
static void init_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

int doorbells_init(struct doorbells *d, const struct budget_rules *rules)
{
	*d = (struct doorbells){
		.epoll_fd = epoll_create1(EPOLL_CLOEXEC),
		.order_fd = eventfd(0, EFD_CLOEXEC),
	};
	init_lock(&d->lock);
	if (d->epoll_fd < 0 || d->order_fd < 0)
		return -errno;
	/* Most of both arrays is never touched, so they take little memory. */
	d->places = calloc(DOORBELLS_PLACES, sizeof *d->places);
	d->busy = calloc(DOORBELLS_PLACES, sizeof *d->busy);
	if (!d->places || !d->busy || budget_init(&d->budget, rules, DOORBELLS_PLACES) < 0)
		return -ENOMEM;
	return doorbells_watch_fd(d->epoll_fd, d->order_fd, ORDER);
}

void doorbells_done(struct doorbells *d)
{
	pthread_mutex_destroy(&d->lock);
	budget_done(&d->budget);
	free(d->busy);
	free(d->places);
	close_fd(&d->order_fd);
	close_fd(&d->epoll_fd);
	*d = (struct doorbells){ .epoll_fd = -1, .order_fd = -1 };
}

static int doorbells_watch_at(struct doorbells *d, unsigned place, int fd)
{
	int r = doorbells_watch_fd(d->epoll_fd, fd, doorbells_data_of(d, place));

	if (r < 0)
		return r;
	d->places[place].fd = fd;
	d->places[place].muted = false;
	return 0;
}

int doorbells_watch(struct doorbells *d, unsigned place, int fd)
{
	int r;

	pthread_mutex_lock(&d->lock);
	r = doorbells_watch_at(d, place, fd);
	pthread_mutex_unlock(&d->lock);
	return r;
}

/* The place may have become free in this turn. Its former user still pays for the turn. */
int doorbells_add(
	struct doorbells *d, unsigned place, unsigned account, int fd, struct page_wakeup *wakeup)
{
	struct doorbell *doorbell = &d->places[place];
	int r;

	pthread_mutex_lock(&d->lock);
	*doorbell = (struct doorbell){
		.claim = doorbell->claim,
		.listed = doorbell->listed,
		.rang = doorbell->rang,
		.wake_ns = doorbell->wake_ns,
		.former = doorbell->listed ? doorbell_payer(doorbell) + 1 : 0,
		.use = doorbell->use + 1,
		.account = account,
		.wakeup = wakeup,
	};
	page_wakeup_redeem(wakeup);
	r = doorbells_watch_at(d, place, fd);
	pthread_mutex_unlock(&d->lock);
	return r;
}

/* The user's account still pays for this turn. */
void doorbells_remove(struct doorbells *d, unsigned place)
{
	struct doorbell *doorbell = &d->places[place];

	pthread_mutex_lock(&d->lock);
	if (doorbell->claim != CLAIM_ANSWERED)
		doorbell->claim = CLAIM_NONE;
	doorbell->half_woken = false;
	doorbell->wakeup = NULL;
	doorbell->fd = -1;
	doorbells_end_kept(d, place, NULL);
	pthread_mutex_unlock(&d->lock);
}

void doorbells_count_clients(struct doorbells *d, unsigned place, int change)
{
	pthread_mutex_lock(&d->lock);
	d->places[place].n_clients += change;
	pthread_mutex_unlock(&d->lock);
}

void doorbells_forget_account(struct doorbells *d, unsigned account)
{
	pthread_mutex_lock(&d->lock);
	budget_forget(&d->budget, account);
	pthread_mutex_unlock(&d->lock);
}

struct budget_use doorbells_use(struct doorbells *d, unsigned account)
{
	struct budget_use use;

	pthread_mutex_lock(&d->lock);
	use = budget_use(&d->budget, account, clock_now_ns());
	pthread_mutex_unlock(&d->lock);
	return use;
}

void doorbells_order(const struct doorbells *d)
{
	eventfd_write(d->order_fd, 1);
}

/* --- sweeps to be kept --- */

void doorbells_keep(struct doorbells *d, struct kept_sweep *kept)
{
	pthread_mutex_lock(&d->lock);
	kept->state = KEPT_ASKED;
	kept->next = d->kept;
	d->kept = kept;
	pthread_mutex_unlock(&d->lock);
	doorbells_order(d);
}

void doorbells_end_kept(struct doorbells *d, unsigned place, const struct page_sweep *sweep)
{
	struct kept_sweep **at = &d->kept, *kept;

	while ((kept = *at))
		if (kept->place != place || (sweep && kept->state != KEPT_CLAIMED)) {
			at = &kept->next;
		} else {
			*at = kept->next;
			if (sweep)
				kept->sweep = *sweep;
			__atomic_store_n(
				&kept->state, sweep ? KEPT_THERE : KEPT_LOST, __ATOMIC_RELEASE);
		}
}

void doorbells_set_rules(struct doorbells *d, const struct budget_rules *rules)
{
	d->budget.rules = *rules;
	for (unsigned i = 0; i < d->n_busy; i++) {
		d->places[d->busy[i]].check_ns = 0;
		d->places[d->busy[i]].more_ns = 0;
	}
}

/* --- rings --- */

/* The timeout is in ns if the kernel supports that, otherwise in ms. */
void doorbells_wait(struct doorbells *d, int64_t timeout_ns)
{
	const struct timespec timeout = { timeout_ns / (int64_t)SECOND_NS,
		timeout_ns % (int64_t)SECOND_NS };
	int64_t timeout_ms = (timeout_ns + CLOCK_NS_PER_MS - 1) / CLOCK_NS_PER_MS;

	d->n_events = (int)syscall(SYS_epoll_pwait2, d->epoll_fd, d->events, DOORBELLS_EVENTS,
		timeout_ns < 0 ? NULL : &timeout, NULL, 0);
	if (d->n_events < 0 && errno == ENOSYS)
		d->n_events = epoll_wait(d->epoll_fd, d->events, DOORBELLS_EVENTS,
			timeout_ns < 0         ? -1
			: timeout_ms > INT_MAX ? INT_MAX
					       : (int)timeout_ms);
}

static void list_busy(struct doorbells *d, uint32_t place)
{
	if (!d->places[place].listed)
		d->busy[d->n_busy++] = place;
	d->places[place].listed = true;
}

static void doorbells_claim(struct doorbells *d, uint32_t place)
{
	struct doorbell *doorbell = &d->places[place];

	doorbell->rang = true;
	if (!doorbell_waits(doorbell)) {
		doorbell->check_ns = 0;
		doorbell->claim = CLAIM_WAITS;
	}
	list_busy(d, place);
}

static void note_ring(struct doorbells *d, uint64_t data, uint64_t now_ns)
{
	uint32_t place = (uint32_t)data;
	struct doorbell *doorbell = &d->places[place];

	if (!doorbell->wakeup || doorbell->use != data >> 32)
		return;
	if (doorbell_waits(doorbell) && doorbell->check_ns > now_ns) {
		doorbells_mute(d, place, true);
		return;
	}
	doorbells_claim(d, place);
}

/* No sweep has begun since the main thread asked that could answer a claim that waits already. */
static void note_kept(struct doorbells *d)
{
	for (struct kept_sweep *kept = d->kept; kept; kept = kept->next)
		if (kept->state == KEPT_ASKED) {
			__atomic_store_n(&kept->state, KEPT_CLAIMED, __ATOMIC_RELAXED);
			doorbells_claim(d, kept->place);
		}
}

bool doorbells_note(struct doorbells *d, uint64_t now_ns)
{
	bool has_order = false;

	for (int i = 0; i < d->n_events; i++)
		if (d->events[i].data.u64 == ORDER)
			has_order = true;
		else
			note_ring(d, d->events[i].data.u64, now_ns);
	d->n_events = 0;
	note_kept(d);
	return has_order;
}
