/* SPDX-License-Identifier: BSD-3-Clause */
/* The turns of a reader, made by hand, at times that the case chooses. */
#include "daemon/read/batch.h"
#include "daemon/read/claims.h"
#include "daemon/read/doorbells.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macro.h"
#include "tests/harness/test.h"

enum { PATIENCE_S = 30, USERS = 4, SLEEPERS = 200, COST_NS = 100000 };

static const uint64_t MS = 1000000, BEGIN_NS = 1000000000000;

static struct doorbells doorbells;
static int fds[USERS];
static struct page_wakeup wakeups[USERS];

/* User i has place and account i, and one client. */
static void add(unsigned place, unsigned account)
{
	fds[place] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert_int_equal(doorbells_add(&doorbells, place, account, fds[place], &wakeups[place]), 0);
	doorbells.places[place].n_clients = 1;
}

static int set_up(void **state)
{
	const struct budget_rules rules = { .percent = 100, .burst_ms = 1000 };

	remember_descriptors(state);
	if (doorbells_init(&doorbells, &rules) < 0)
		return -1;
	for (unsigned i = 0; i < USERS; i++) {
		wakeups[i] = (struct page_wakeup){ .n_rung = 0 };
		add(i, i);
	}
	return 0;
}

static int tear_down(void **state)
{
	doorbells_done(&doorbells);
	for (unsigned i = 0; i < USERS; i++)
		close_fd(&fds[i]);
	return compare_descriptors(state);
}

#define DOORBELLS_CASE(sentence) CASE_WITHIN(sentence, set_up, tear_down)

static void ring(unsigned user)
{
	eventfd_write(fds[user], 1);
}

/* The first half of a turn. True: a sweep is to be made. */
static bool listen_at(uint64_t now_ns)
{
	doorbells_wait(&doorbells, 0);
	assert_false(doorbells_note(&doorbells, now_ns));
	return claims_admit(&doorbells, now_ns);
}

static void wake(void)
{
	for (int many = 0; many <= 1; many++)
		for (unsigned i = 0; i < doorbells.n_busy; i++)
			claims_wake(&doorbells, i, many);
}

/* A turn, with a sweep if one is admitted. True: it was. */
static bool turn_at(uint64_t now_ns, uint64_t cost_ns)
{
	bool admitted = listen_at(now_ns);

	if (admitted)
		claims_join(&doorbells, now_ns, 0);
	wake();
	claims_charge(&doorbells, admitted ? now_ns : 0, cost_ns, now_ns);
	return admitted;
}

static int64_t credit(unsigned account)
{
	return doorbells.budget.accounts[account].credit_ns;
}

/* Leaves nothing of the budget and of any account's credit. */
static void spend_all(uint64_t now_ns)
{
	doorbells.budget.as_of_ns = now_ns;
	doorbells.budget.total_ns = 0;
	for (unsigned i = 0; i < USERS; i++) {
		doorbells.budget.accounts[i].as_of_ns = now_ns;
		doorbells.budget.accounts[i].credit_ns = 0;
		doorbells.budget.accounts[i].counts = true;
	}
}

/* Has a claim of user 0 put off, by an interval of @ms. */
static void put_off(uint32_t ms)
{
	const struct budget_rules rules = {
		.percent = 100, .burst_ms = 1000, .min_interval_ms = ms
	};

	ring(0);
	assert_true(turn_at(BEGIN_NS, COST_NS));
	doorbells_set_rules(&doorbells, &rules);
	ring(0);
	assert_false(turn_at(BEGIN_NS + 1, 0));
	assert_true(page_wakeup_is_claimed(&wakeups[0]));
}

DOORBELLS_CASE("all rings of a user are one claim")
{
	ring(0);
	ring(0);
	assert_true(turn_at(BEGIN_NS, COST_NS));
	assert_int_equal(wakeups[0].n_rung, 1);
	assert_int_equal(wakeups[1].n_rung, 0);
	assert_false(turn_at(BEGIN_NS + 1, 0));
	assert_int_equal(wakeups[0].n_rung, 1);
	assert_int_equal(claims_due_ns(&doorbells, BEGIN_NS + 1), -1);
}

DOORBELLS_CASE("a claim that is put off says so until its sweep begins")
{
	put_off(10);
	assert_int_equal(page_wakeup_due_ns(&wakeups[0]), BEGIN_NS + 10 * MS);
	assert_int_equal(claims_due_ns(&doorbells, BEGIN_NS + 1), 10 * MS - 1);
	assert_int_equal(doorbells.throttled, 1);
	assert_false(turn_at(BEGIN_NS + 10 * MS - 1, 0));
	assert_true(listen_at(BEGIN_NS + 10 * MS));
	assert_true(page_wakeup_is_claimed(&wakeups[0]));
	claims_join(&doorbells, BEGIN_NS + 10 * MS, 0);
	assert_false(page_wakeup_is_claimed(&wakeups[0]));
	assert_int_equal(wakeups[0].n_rung, 1); /* before the sweep, none */
	wake();
	assert_int_equal(wakeups[0].n_rung, 2);
	claims_charge(&doorbells, BEGIN_NS + 10 * MS, COST_NS, BEGIN_NS + 10 * MS);
	assert_int_equal(doorbells.throttled, 1);
}

DOORBELLS_CASE("over the budget a claim is put off")
{
	spend_all(BEGIN_NS);
	ring(0);
	assert_false(turn_at(BEGIN_NS, 0));
	assert_true(page_wakeup_is_claimed(&wakeups[0]));
	assert_true(turn_at(page_wakeup_due_ns(&wakeups[0]), COST_NS));
	assert_false(page_wakeup_is_claimed(&wakeups[0]));
}

DOORBELLS_CASE("a doorbell that pesters is muted until it is answered")
{
	put_off(10);
	spend_all(BEGIN_NS + 1);
	ring(0);
	assert_false(turn_at(BEGIN_NS + 1, 0));
	assert_true(doorbells.places[0].muted);
	ring(0);
	doorbells_wait(&doorbells, 0);
	assert_int_equal(doorbells.n_events, 0);
	assert_true(turn_at(page_wakeup_due_ns(&wakeups[0]), COST_NS));
	assert_false(doorbells.places[0].muted);
	/* Its rings in the meantime are heard, once. */
	doorbells_wait(&doorbells, 0);
	assert_int_equal(doorbells.n_events, 1);
}

DOORBELLS_CASE("a sweep is charged to those it answers")
{
	put_off(10);
	spend_all(BEGIN_NS + 10 * MS);
	doorbells.budget.accounts[0].credit_ns = 1;
	doorbells.budget.accounts[1].credit_ns = 1;
	doorbells.budget.accounts[2].credit_ns = -(int64_t)(1000 * MS);
	doorbells.budget.total_ns = 1;
	ring(1);
	ring(2); /* is too much in debt to join */
	assert_true(turn_at(BEGIN_NS + 10 * MS, COST_NS));
	assert_true(credit(0) < 0 && credit(1) < 0);
	assert_in_range(-(credit(0) + credit(1) - 2), COST_NS - 1, COST_NS);
	assert_int_equal(credit(2), -(int64_t)(1000 * MS));
	assert_int_equal(wakeups[2].n_rung, 0);
	assert_true(page_wakeup_is_claimed(&wakeups[2]));
}

DOORBELLS_CASE("users in debt by less than a sweep join one")
{
	spend_all(BEGIN_NS);
	doorbells.budget.sweep_cost_ns = COST_NS;
	doorbells.budget.total_ns = 1;
	doorbells.budget.accounts[0].credit_ns = 1;
	doorbells.budget.accounts[1].credit_ns = 1 - COST_NS;
	doorbells.budget.accounts[2].credit_ns = -COST_NS;
	for (unsigned i = 0; i < 3; i++)
		ring(i);
	assert_true(listen_at(BEGIN_NS));
	claims_join(&doorbells, BEGIN_NS, 0);
	wake();
	claims_charge(&doorbells, BEGIN_NS, COST_NS, BEGIN_NS);
	assert_false(page_wakeup_is_claimed(&wakeups[1]));
	assert_true(page_wakeup_is_claimed(&wakeups[2]));
	assert_int_equal(wakeups[1].n_rung, 1);
	assert_int_equal(wakeups[2].n_rung, 0);
}

/* The cost of a turn must not keep the claim from being admitted when it is due. */
DOORBELLS_CASE("what a ring costs is waited for at once")
{
	spend_all(BEGIN_NS);
	ring(0);
	assert_false(turn_at(BEGIN_NS, COST_NS));
	assert_true(turn_at(page_wakeup_due_ns(&wakeups[0]), COST_NS));
	assert_int_equal(doorbells.throttled, 1);
}

/*
 * User 0 rings and is answered, again and again. Returns how many moments the last sweep was to
 * wait.
 */
static unsigned ring_often(unsigned n_times)
{
	static uint64_t now_ns = BEGIN_NS;
	unsigned moments = 0;

	for (unsigned i = 0; i < n_times; i++) {
		ring(0);
		assert_true(listen_at(++now_ns));
		moments = batch_moments(&doorbells);
		claims_join(&doorbells, now_ns, 0);
		wake();
		claims_charge(&doorbells, now_ns, 0, now_ns);
	}
	return moments;
}

DOORBELLS_CASE("late rings, again and again, make a batch, and quiet moments unmake it")
{
	doorbells.places[0].n_clients = 100;
	assert_int_equal(ring_often(3), 0);
	assert_int_equal(ring_often(30), 17);
	assert_int_equal(ring_often(30), BATCH_MOMENTS);
	ring(0);
	assert_true(listen_at(BEGIN_NS + 10 * MS));
	batch_note_quiet(&doorbells);
	assert_int_equal(batch_moments(&doorbells), BATCH_MOMENTS);
	batch_note_quiet(&doorbells);
	assert_int_equal(batch_moments(&doorbells), BATCH_MOMENTS - 1);
}

DOORBELLS_CASE("a batch is waited for a moment per client at most")
{
	doorbells.places[0].n_clients = 4;
	assert_int_equal(ring_often(100), 4);
}

DOORBELLS_CASE("the only client of a user is not a batch")
{
	doorbells.places[0].n_clients = 1;
	assert_int_equal(ring_often(100), 0);
}

DOORBELLS_CASE("a former user's rings are ignored")
{
	int former = dup(fds[0]);

	ring(0);
	doorbells_wait(&doorbells, 0);
	doorbells_remove(&doorbells, 0);
	close(fds[0]);
	add(0, 3);
	assert_false(doorbells_note(&doorbells, BEGIN_NS));
	eventfd_write(former, 1);
	assert_false(turn_at(BEGIN_NS, 0));
	assert_int_equal(wakeups[0].n_rung, 0);
	ring(0);
	assert_true(turn_at(BEGIN_NS, COST_NS));
	assert_int_equal(wakeups[0].n_rung, 1);
	close(former);
}

/* Spends all, except the little that @account needs to be admitted. */
static void spend_all_but_of(unsigned account, uint64_t now_ns)
{
	spend_all(now_ns);
	doorbells.budget.accounts[account].credit_ns = 1;
	doorbells.budget.total_ns = 1;
}

/* Another user has the place of user 0 before the turn is charged. */
DOORBELLS_CASE("a user that leaves within a turn pays for it, not the one in its place")
{
	spend_all_but_of(0, BEGIN_NS);
	ring(0);
	assert_true(listen_at(BEGIN_NS));
	claims_join(&doorbells, BEGIN_NS, 0);
	wake();
	doorbells_remove(&doorbells, 0);
	close(fds[0]);
	add(0, 3);
	claims_charge(&doorbells, BEGIN_NS, COST_NS, BEGIN_NS);
	assert_int_equal(credit(0), 1 - COST_NS);
	assert_int_equal(credit(3), 0);
	spend_all_but_of(3, BEGIN_NS + MS);
	ring(0);
	assert_true(turn_at(BEGIN_NS + MS, COST_NS));
	assert_int_equal(credit(0), 0);
	assert_int_equal(credit(3), 1 - COST_NS);
}

DOORBELLS_CASE("a user that waits can be removed")
{
	put_off(10);
	doorbells_remove(&doorbells, 0);
	assert_false(turn_at(BEGIN_NS + 10 * MS, 0));
	assert_int_equal(claims_due_ns(&doorbells, BEGIN_NS), -1);
	close(fds[0]);
	add(0, 0);
	assert_false(page_wakeup_is_claimed(&wakeups[0]));
	ring(0);
	assert_true(turn_at(BEGIN_NS + 20 * MS, COST_NS));
}

DOORBELLS_CASE("new rules are looked at at once")
{
	const struct budget_rules rules = { .percent = 100, .burst_ms = 1000 };

	put_off(10000);
	doorbells_set_rules(&doorbells, &rules);
	assert_int_equal(claims_due_ns(&doorbells, BEGIN_NS + 2), 0);
	assert_true(turn_at(BEGIN_NS + 2, COST_NS));
	assert_int_equal(wakeups[0].n_rung, 2);
}

/* --- waiters that sleep --- */

static struct page_cell cell;

struct sleeper {
	pthread_t thread;
	const struct page_wakeup *wakeup;
	_Atomic pid_t tid;
	int ret;
};

static void *sleep_on_wakeup(void *argument)
{
	struct sleeper *sleeper = argument;

	sleeper->tid = gettid();
	sleeper->ret = page_wait(
		&cell, sleeper->wakeup, 0, clock_deadline_ns(PATIENCE_S * UINT64_C(1000000000)));
	return NULL;
}

static void start_sleepers(struct sleeper ret[SLEEPERS], const struct page_wakeup *wakeup)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 * 1024);
	for (unsigned i = 0; i < SLEEPERS; i++) {
		ret[i] = (struct sleeper){ .wakeup = wakeup };
		assert_int_equal(
			pthread_create(&ret[i].thread, &attr, sleep_on_wakeup, &ret[i]), 0);
	}
	pthread_attr_destroy(&attr);
}

static void join_sleepers(struct sleeper sleepers[SLEEPERS])
{
	for (unsigned i = 0; i < SLEEPERS; i++) {
		pthread_join(sleepers[i].thread, NULL);
		assert_int_equal(sleepers[i].ret, 0);
	}
}

static bool is_asleep(pid_t tid)
{
	char path[64];
	_cleanup_file_ FILE *file = NULL;
	char state = '?';

	snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
	file = fopen(path, "re");
	return file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1 && state == 'S';
}

/*
 * Looks at all of them in a row: under emulation a thread may also sleep for an instant on its way.
 */
static bool are_asleep(const struct sleeper sleepers[SLEEPERS])
{
	for (unsigned i = 0; i < SLEEPERS; i++)
		if (!sleepers[i].tid || !is_asleep(sleepers[i].tid))
			return false;
	return true;
}

/* For how long the clients of user 0 may spin if there are @n_clients. */
static uint32_t spin_allowed(unsigned n_clients)
{
	const uint32_t spin_ns = 1234;

	doorbells.places[0].n_clients = n_clients;
	ring(0);
	assert_true(listen_at(BEGIN_NS));
	claims_join(&doorbells, BEGIN_NS, spin_ns);
	wake();
	claims_charge(&doorbells, BEGIN_NS, 0, BEGIN_NS);
	return wakeups[0].spin_ns;
}

DOORBELLS_CASE("one or two clients of a user may spin, more had better sleep")
{
	assert_int_equal(spin_allowed(1), 1234);
	assert_int_equal(spin_allowed(2), 1234);
	assert_int_equal(spin_allowed(3), 0);
	assert_int_equal(spin_allowed(1), 1234);
}

/* All sleep on the wake-up of user 1. */
static void put_to_sleep(struct sleeper ret[SLEEPERS])
{
	uint64_t deadline_ns = clock_deadline_ns(PATIENCE_S * UINT64_C(1000000000));

	cell = (struct page_cell){ .finished = 0 };
	start_sleepers(ret, &wakeups[1]);
	while (!are_asleep(ret) && clock_now_ns() < deadline_ns)
		usleep(10000);
	assert_true(are_asleep(ret));
}

/* A turn in which user 0 rings while some of user 1 sleep on. */
static void turn_for_one_beside_many(void)
{
	unsigned n_before = doorbells.places[1].n_woken;
	uint64_t now_ns = clock_now_ns();

	ring(0);
	assert_true(listen_at(now_ns));
	claims_join(&doorbells, now_ns, 0);
	for (unsigned i = 0; i < doorbells.n_busy; i++)
		claims_wake(&doorbells, i, false);
	assert_int_equal(wakeups[0].n_rung, 1);
	assert_int_equal(doorbells.places[1].n_woken, n_before);
	for (unsigned i = 0; i < doorbells.n_busy; i++)
		claims_wake(&doorbells, i, true);
	assert_int_equal(doorbells.places[1].n_woken, n_before + CLAIMS_PORTION);
	claims_charge(&doorbells, now_ns, 0, now_ns);
}

DOORBELLS_CASE("many sleepers of a user are woken in portions, other users first")
{
	struct sleeper sleepers[SLEEPERS];
	uint64_t now_ns = clock_now_ns();
	unsigned n_turns = 0;

	put_to_sleep(sleepers);
	ring(1);
	assert_true(listen_at(now_ns));
	claims_join(&doorbells, now_ns, 0);
	__atomic_store_n(&cell.finished, 1, __ATOMIC_RELEASE);
	wake();
	claims_charge(&doorbells, now_ns, 0, now_ns);
	assert_int_equal(doorbells.places[1].n_woken, CLAIMS_PORTION);
	turn_for_one_beside_many();
	for (; claims_due_ns(&doorbells, clock_now_ns()) >= 0; n_turns++)
		turn_at(clock_now_ns(), 0);
	join_sleepers(sleepers);
	assert_int_equal(doorbells.places[1].n_woken, SLEEPERS);
	assert_int_equal(n_turns, SLEEPERS / CLAIMS_PORTION - 1);
	assert_int_equal(wakeups[1].n_rung, 1);
}

/* The sweep is there already: an interval delays only users that want another sweep. */
DOORBELLS_CASE("intervals do not keep sleepers from being woken")
{
	const struct budget_rules rules = { .percent = 100,
		.burst_ms = 1000,
		.min_interval_ms = 100000,
		.min_interval_per_user_ms = 100000 };
	struct sleeper sleepers[SLEEPERS];
	uint64_t now_ns = clock_now_ns();

	doorbells_set_rules(&doorbells, &rules);
	put_to_sleep(sleepers);
	ring(1);
	assert_true(listen_at(now_ns));
	claims_join(&doorbells, now_ns, 0);
	__atomic_store_n(&cell.finished, 1, __ATOMIC_RELEASE);
	wake();
	claims_charge(&doorbells, now_ns, 0, now_ns);
	ring(1); /* a sleeper that was woken wants the next sweep */
	for (unsigned i = 0; i < SLEEPERS / CLAIMS_PORTION; i++)
		turn_at(clock_now_ns(), 0);
	assert_int_equal(doorbells.places[1].n_woken, SLEEPERS);
	assert_true(page_wakeup_is_claimed(&wakeups[1]));
	assert_int_equal(doorbells.throttled, 1);
	join_sleepers(sleepers);
}

/* --- no waiter is forgotten --- */

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* A user that waits: n_rung of its wake-up must have gone on after its last ring. */
struct wish {
	bool waits;
	uint32_t n_rung;
};

static void come_and_go(unsigned user)
{
	doorbells_remove(&doorbells, user);
	close(fds[user]);
	add(user, user);
}

static void take_answers(struct wish wishes[])
{
	for (unsigned i = 0; i < USERS; i++)
		if (wakeups[i].n_rung != wishes[i].n_rung)
			wishes[i].waits = false;
}

static void act(uint32_t *seed, struct wish wishes[], uint64_t *now_ns)
{
	unsigned user = next_random(seed) % USERS;

	switch (next_random(seed) % 8) {
	case 0:
		come_and_go(user);
		wishes[user].waits = false;
		break;
	case 1:
	case 2:
	case 3:
		wishes[user] = (struct wish){ true, wakeups[user].n_rung };
		if (!page_wakeup_is_claimed(&wakeups[user]))
			ring(user); /* as the library does */
		break;
	default:
		*now_ns += next_random(seed) % (2 * MS);
		turn_at(*now_ns, next_random(seed) % MS);
		take_answers(wishes);
	}
}

static void follow(uint32_t seed)
{
	struct budget_rules rules = { .percent = 1 + seed % 5,
		.burst_ms = 1 + seed % 3,
		.min_interval_ms = seed % 2,
		.min_interval_per_user_ms = seed % 7 };
	struct wish wishes[USERS] = { { .waits = false } };
	uint64_t now_ns = BEGIN_NS + seed * 1000000 * MS;
	int64_t due_ns;

	doorbells_set_rules(&doorbells, &rules);
	for (unsigned i = 0; i < 300; i++)
		act(&seed, wishes, &now_ns);
	/*
	 * From here the reader sleeps until the next claim is due: the edge of each ring is seen
	 * once.
	 */
	turn_at(now_ns, 0);
	for (unsigned i = 0; i < 10000; i++) {
		due_ns = claims_due_ns(&doorbells, now_ns);
		if (due_ns < 0)
			break;
		now_ns += (uint64_t)due_ns;
		turn_at(now_ns, 0);
	}
	take_answers(wishes);
	for (unsigned i = 0; i < USERS; i++) {
		assert_false(wishes[i].waits);
		assert_false(page_wakeup_is_claimed(&wakeups[i]));
	}
}

DOORBELLS_CASE("no waiter is forgotten")
{
	for (uint32_t seed = 1; seed <= 50; seed++)
		follow(seed);
}
