/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The doorbells of a reader, its budget, and accounts, without threads and in a time of their own.
 * The input is a row of steps: users come and go, ring, sleep; uncored keeps sweeps for them; time
 * passes; the administrator changes the rules. After most steps the reader takes a turn, as
 * reader.c does.
 *
 * With any input no claim is lost, no user spends time that was not earned, and each claim is
 * answered, and each sweep kept, some time after all other users have become quiet.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/macro.h"
#include "daemon/admit/accounts.h"
#include "daemon/read/batch.h"
#include "daemon/read/claims.h"
#include "daemon/read/doorbells.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

enum { USERS = 8, IDS = 5, STEPS_MAX = 2048, QUIET_TURNS_MAX = 20000, NS_PER_MS = 1000000 };

static const struct budget_rules rules[] = {
	{ .percent = 10, .burst_ms = 100 },
	{ .percent = 1, .burst_ms = 1 },
	{ .percent = 100, .burst_ms = 10000 },
	{ .percent = 50, .burst_ms = 10, .min_interval_ms = 10 },
	{ .percent = 50, .burst_ms = 10, .min_interval_per_user_ms = 20 },
};

static struct doorbells doorbells;
static struct accounts accounts;

static struct {
	bool present, claims;
	int fd;
	unsigned account, n_sleep;
	struct page_wakeup wakeup;
	struct kept_sweep kept;
} users[USERS];

/* --- in the place of the kernel: time and sleepers --- */

static uint64_t virtual_ns; /* 0: the time is the kernel's */
static uint64_t wake_ns;    /* cost of waking a portion */
static bool old_kernel;     /* it lacks epoll_pwait2(2) */

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / 1000000000U), (long)(ns % 1000000000U) };
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	static int (*kernels)(clockid_t, struct timespec *);

	if (virtual_ns && clock == CLOCK_MONOTONIC) {
		*ret = timespec_of(virtual_ns);
		return 0;
	}
	if (!kernels)
		*(void **)&kernels = dlsym(RTLD_NEXT, "clock_gettime");
	return kernels(clock, ret);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest)
{
	(void)clock;
	(void)flags;
	(void)rest;
	virtual_ns += (uint64_t)time->tv_sec * 1000000000U + (uint64_t)time->tv_nsec;
	return 0;
}

static long wake(const uint32_t *n_rung, unsigned most)
{
	for (unsigned i = 0; i < USERS; i++)
		if (n_rung == &users[i].wakeup.n_rung) {
			unsigned n = users[i].n_sleep < most ? users[i].n_sleep : most;

			users[i].n_sleep -= n;
			virtual_ns += wake_ns;
			return n;
		}
	abort(); /* no user has this account */
}

/* The timeout of epoll_pwait2(2) is over at once: time passes by steps. */
long syscall(long number, ...)
{
	const struct timespec none = {};
	static long (*kernels)(long, ...);
	long a[6];
	va_list list;

	va_start(list, number);
	for (unsigned i = 0; i < ARRAY_SIZE(a); i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_futex && virtual_ns && a[1] == FUTEX_WAKE)
		return wake((const uint32_t *)a[0], (unsigned)a[2]);
	if (number == SYS_epoll_pwait2 && old_kernel) {
		errno = ENOSYS;
		return -1;
	}
	if (number == SYS_epoll_pwait2)
		a[3] = (long)&none;
	if (!kernels)
		*(void **)&kernels = dlsym(RTLD_NEXT, "syscall");
	return kernels(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int epoll_wait(int epoll_fd, struct epoll_event *ret_events, int most, int timeout_ms)
{
	(void)timeout_ms;
	return (int)syscall(SYS_epoll_pwait, epoll_fd, ret_events, most, 0, NULL, 0);
}

/* --- assertions --- */

/* Every claim is listed, once; every account is one of the table. */
static void check_claims(void)
{
	unsigned n_listed[USERS] = {};

	for (unsigned i = 0; i < doorbells.n_busy; i++) {
		if (doorbells.busy[i] >= USERS)
			abort();
		n_listed[doorbells.busy[i]]++;
	}
	for (unsigned i = 0; i < USERS; i++)
		if (n_listed[i] > 1 || doorbell_waits(&doorbells.places[i]) != users[i].claims ||
			(users[i].claims && (!n_listed[i] || !users[i].present)) ||
			(users[i].present && doorbells.places[i].account >= accounts.n))
			abort();
}

/* A turn is charged at most what it cost, and earns nothing. */
static void check_charge(int64_t before_ns, uint64_t cost_ns)
{
	int64_t total_ns = doorbells.budget.total_ns;

	if (total_ns > before_ns || total_ns < before_ns - (int64_t)cost_ns)
		abort();
}

/* --- a turn of the reader --- */

static uint64_t cost_ns; /* of the next sweeps */

static void note(void)
{
	for (int i = 0; i < doorbells.n_events; i++) {
		uint64_t data = doorbells.events[i].data.u64;
		uint32_t place = (uint32_t)data;

		if (data == UINT64_MAX)
			continue;
		if (place >= USERS)
			abort();
		users[place].claims |=
			users[place].present && data >> 32 == doorbells.places[place].use;
	}
	for (const struct kept_sweep *kept = doorbells.kept; kept; kept = kept->next)
		users[kept->place].claims |= kept->state == KEPT_ASKED;
	doorbells_note(&doorbells, virtual_ns);
}

/* Admitted users are answered; the others keep their claims. */
static void sweep(void)
{
	const struct budget *budget = &doorbells.budget;
	int64_t burst_ns = (int64_t)budget->rules.burst_ms * NS_PER_MS;

	/* no more is spent in advance than the reserve, nor saved up than the burst */
	if (budget->total_ns <= -burst_ns / 4 || budget->total_ns > burst_ns)
		abort();
	if (batch_moments(&doorbells)) {
		doorbells_wait(&doorbells, 0);
		if (doorbells.n_events <= 0)
			batch_note_quiet(&doorbells);
		note();
	}
	claims_join(&doorbells, virtual_ns, 0);
	for (unsigned i = 0; i < USERS; i++)
		users[i].claims &= doorbells.places[i].claim != CLAIM_JOINS;
	virtual_ns += cost_ns;
}

static void take_turn(void)
{
	static const struct page_sweep swept_now;
	uint64_t begin_ns = virtual_ns;
	int64_t before_ns;
	bool swept;

	doorbells_wait(&doorbells, claims_due_ns(&doorbells, virtual_ns));
	note();
	swept = claims_admit(&doorbells, virtual_ns);
	if (swept)
		sweep();
	for (int many = 0; many <= 1; many++)
		for (unsigned i = 0; i < doorbells.n_busy; i++)
			claims_wake(&doorbells, i, many);
	before_ns = doorbells.budget.total_ns;
	claims_keep(&doorbells, &swept_now);
	claims_charge(&doorbells, swept ? begin_ns : 0, virtual_ns - begin_ns, virtual_ns);
	check_charge(before_ns, virtual_ns - begin_ns);
	check_claims();
}

/* --- steps --- */

static void remove_user(unsigned i)
{
	if (!users[i].present)
		return;
	doorbells_remove(&doorbells, i);
	accounts_leave(&accounts, users[i].account, virtual_ns);
	close_fd(&users[i].fd);
	users[i].present = users[i].claims = false;
	users[i].n_sleep = 0;
}

/*
 * Returns ACCOUNTS_NONE if no account is free. An account that is given away must not be a present
 * user's.
 */
static unsigned find_account(void)
{
	bool is_new;
	unsigned account = accounts_find(&accounts, take_byte() % IDS, &is_new);

	if (account == ACCOUNTS_NONE)
		return account;
	for (unsigned i = 0; i < USERS && is_new; i++)
		if (users[i].present && users[i].account == account)
			abort();
	if (is_new)
		budget_forget(&doorbells.budget, account);
	return account;
}

static void step_come(unsigned i)
{
	unsigned account = find_account();

	remove_user(i);
	if (account == ACCOUNTS_NONE)
		return;
	users[i].present = true;
	users[i].account = account;
	users[i].fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	accounts_enter(&accounts, account);
	if (accounts.accounts[accounts_largest(&accounts)].n_peers <
			accounts.accounts[account].n_peers ||
		doorbells_add(&doorbells, i, account, users[i].fd, &users[i].wakeup) < 0)
		abort();
}

static void step_ring(unsigned i)
{
	if (users[i].present)
		eventfd_write(users[i].fd, 1);
}

/* For a team of the user whose processes were all killed. */
static void step_keep(unsigned i)
{
	struct kept_sweep *kept = &users[i].kept;

	if (!users[i].present || kept->state == KEPT_ASKED || kept->state == KEPT_CLAIMED)
		return;
	kept->place = i;
	doorbells_keep(&doorbells, kept);
}

static void step_renew(unsigned i)
{
	if (!users[i].present)
		return;
	close_fd(&users[i].fd);
	users[i].fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (doorbells_watch(&doorbells, i, users[i].fd) < 0)
		abort();
}

static void step_sleep(unsigned i)
{
	users[i].n_sleep = users[i].present ? take_byte() * 2U : 0;
	doorbells.places[i].n_clients = users[i].n_sleep;
}

static void step_time(unsigned i)
{
	virtual_ns += (uint64_t)take_byte() << (4 * i);
}

static void step_costs(unsigned i)
{
	cost_ns = (uint64_t)take_byte() << (2 * i);
	wake_ns = cost_ns / 4;
}

static void step_rules(unsigned i)
{
	(void)i;
	doorbells_set_rules(&doorbells, &rules[take_byte() % ARRAY_SIZE(rules)]);
	eventfd_write(doorbells.order_fd, 1);
}

/* All other accounts are taken. Each of their users left at another time, or has not left. */
static void step_fill(unsigned i)
{
	for (; accounts.n < ACCOUNTS_MAX; accounts.n++) {
		accounts.ids[accounts.n] = IDS + accounts.n;
		accounts.accounts[accounts.n] = (struct account){ i == 0,
			virtual_ns - (accounts.n * 7 + i) % ACCOUNTS_MAX };
	}
}

/* One for each half of a byte. */
static void (*const steps[16])(unsigned i) = { step_come, step_ring, step_renew, step_sleep,
	step_come, step_time, step_costs, step_rules, step_fill, remove_user, step_keep, step_ring,
	step_renew, step_sleep, step_come, step_time };

/*
 * All users are quiet by now and sweeps cost nothing, so every claim that waits must be answered.
 */
static void drain(void)
{
	cost_ns = wake_ns = 0;
	for (unsigned n = 0; n < QUIET_TURNS_MAX && doorbells.n_busy; n++) {
		int64_t due_ns = claims_due_ns(&doorbells, virtual_ns);

		virtual_ns += due_ns > 0 ? (uint64_t)due_ns : 1;
		take_turn();
	}
	if (doorbells.n_busy || doorbells.kept)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	uint8_t first_byte;

	input.data = data;
	input.size_bytes = size_bytes;
	first_byte = take_byte();
	old_kernel = first_byte & 128;
	virtual_ns = 1000000000000U;
	cost_ns = wake_ns = 0;
	for (unsigned i = 0; i < USERS; i++)
		users[i].kept.state = KEPT_LOST;
	if (doorbells_init(&doorbells, &rules[first_byte % ARRAY_SIZE(rules)]) < 0 ||
		accounts_init(&accounts) < 0)
		abort();
	for (unsigned n = 0; n < STEPS_MAX && input.size_bytes; n++) {
		uint8_t byte = take_byte();

		steps[byte & 15]((byte >> 4) % USERS);
		if (byte < 128)
			take_turn();
	}
	take_turn();
	drain();
	for (unsigned i = 0; i < USERS; i++)
		remove_user(i);
	doorbells_done(&doorbells);
	accounts_done(&accounts);
	virtual_ns = 0;
	return 0;
}
