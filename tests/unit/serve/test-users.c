/* SPDX-License-Identifier: BSD-3-Clause */
/* Users with doorbells in two readers, which do not run: doorbells are looked at by hand. */
#include "daemon/read/claims.h"
#include "daemon/serve/users.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macro.h"
#include "tests/harness/test.h"

enum { READERS = 2, PATIENCE_S = 30 };

static struct reader readers[READERS];
static struct closers *closers;
static struct users users;

static int set_up(void **state)
{
	const struct budget_rules rules = { .percent = 100, .burst_ms = 100 };

	remember_descriptors(state);
	for (unsigned s = 0; s < READERS; s++) {
		readers[s] = (struct reader){ .running = false };
		if (doorbells_init(&readers[s].doorbells, &rules) < 0)
			return -1;
	}
	if (closers_new(&closers) < 0)
		return -1;
	return users_init(&users, readers, READERS, closers);
}

static int tear_down(void **state)
{
	users_done(&users);
	closers = closers_free(closers);
	for (unsigned s = 0; s < READERS; s++)
		doorbells_done(&readers[s].doorbells);
	return compare_descriptors(state);
}

#define USERS_CASE(sentence) CASE_WITHIN(sentence, set_up, tear_down)

static struct user *enter(uint32_t uid, unsigned account)
{
	struct user *user = NULL;

	assert_int_equal(users_enter(&users, uid, account, &user), 0);
	assert_non_null(user);
	return user;
}

static void wait_until_closed(void)
{
	uint64_t deadline_ns = clock_deadline_ns(PATIENCE_S * UINT64_C(1000000000));

	closers_settle(closers, NULL);
	while (closers_pending(closers) && clock_now_ns() < deadline_ns)
		usleep(1000);
	assert_int_equal(closers_pending(closers), 0);
}

/* Rings @fd. Returns the place that reader @s hears, or -1. */
static int ring(unsigned s, int fd)
{
	struct doorbells *doorbells = &readers[s].doorbells;

	doorbells_wait(doorbells, 0);
	doorbells_note(doorbells, 1);
	claims_charge(doorbells, 0, 0, 1);
	for (unsigned i = 0; i < doorbells->n_busy; i++)
		doorbells->places[doorbells->busy[i]].claim = CLAIM_NONE;
	claims_charge(doorbells, 0, 0, 1);
	eventfd_write(fd, 1);
	doorbells_wait(doorbells, 0);
	doorbells_note(doorbells, 1);
	return doorbells->n_busy == 1 ? (int)doorbells->busy[0] : -1;
}

USERS_CASE("clients of one uid share doorbells and memory")
{
	struct user *user = enter(1000, 5), *other = enter(1001, 5);

	assert_ptr_equal(enter(1000, 5), user);
	assert_ptr_not_equal(user, other);
	assert_int_equal(user->n_clients, 2);
	assert_int_equal(readers[0].doorbells.places[user->place].n_clients, 2);
	assert_int_equal(readers[1].doorbells.places[user->place].n_clients, 2);
	assert_int_equal(users.n_clients, 3);
	for (unsigned s = 0; s < READERS; s++) {
		assert_int_equal(ring(s, user->doorbells[s]), (int)user->place);
		assert_int_equal(ring(s, other->doorbells[s]), (int)other->place);
		assert_ptr_equal(
			readers[s].doorbells.places[user->place].wakeup, &user->wakeups[s]);
	}
	users_leave(&users, user);
	users_leave(&users, user);
	users_leave(&users, other);
	assert_int_equal(users.n_clients, 0);
}

USERS_CASE("clients get their memory read-only")
{
	struct user *user = enter(1000, 5);
	size_t bytes = READERS * sizeof(struct page_wakeup);
	const struct page_wakeup *wakeups =
		mmap(NULL, bytes, PROT_READ, MAP_SHARED, user->wakeups_fd, 0);

	assert_ptr_not_equal(wakeups, MAP_FAILED);
	page_wakeup_announce(&user->wakeups[1]);
	assert_int_equal(wakeups[0].n_rung, 0);
	assert_int_equal(wakeups[1].n_rung, 1);
	munmap((void *)wakeups, bytes);
	assert_ptr_equal(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, user->wakeups_fd, 0),
		MAP_FAILED);
	users_leave(&users, user);
}

USERS_CASE("a user that is away is found again")
{
	struct user *user = enter(1000, 5);
	int doorbell = user->doorbells[0], wakeups = user->wakeups_fd;

	users_leave(&users, user);
	for (unsigned i = 1; i < USERS_AWAY_MAX; i++)
		users_leave(&users, enter(2000 + i, 6));
	assert_int_equal(users.n_away, USERS_AWAY_MAX);
	assert_ptr_equal(enter(1000, 5), user);
	assert_int_equal(user->doorbells[0], doorbell);
	assert_int_equal(user->wakeups_fd, wakeups);
	assert_int_equal(ring(0, doorbell), (int)user->place);
	users_leave(&users, user);
}

static bool is_there(uint32_t uid)
{
	for (unsigned i = 0; i < users.n; i++)
		if (users.table[i] && users.table[i]->uid == uid)
			return true;
	return false;
}

USERS_CASE("the user that is away longest goes first")
{
	for (unsigned i = 0; i < USERS_AWAY_MAX; i++)
		users_leave(&users, enter(2000 + i, 6));
	users_leave(&users, enter(2000, 6));
	users_leave(&users, enter(1000, 5));
	assert_int_equal(users.n_away, USERS_AWAY_MAX);
	assert_true(is_there(2000));
	assert_false(is_there(2001));
	assert_true(is_there(2002));
	assert_true(is_there(1000));
	users_drop_away(&users);
	assert_int_equal(users.n_away, 0);
	assert_false(is_there(1000));
}

USERS_CASE("new doorbells come in the place of the old ones, once a second")
{
	struct user *user = enter(1000, 5);
	int before = dup(user->doorbells[1]), after;

	assert_int_equal(users_renew_doorbells(&users, user), 0);
	after = user->doorbells[1];
	wait_until_closed();
	assert_int_equal(ring(1, before), -1);
	assert_int_equal(ring(1, after), (int)user->place);
	user->renewed_ns = clock_now_ns(); /* however slow this computer is */
	assert_int_equal(users_renew_doorbells(&users, user), 0);
	assert_int_equal(user->doorbells[1], after);
	user->renewed_ns = clock_now_ns() - 1000000000;
	assert_int_equal(users_renew_doorbells(&users, user), 0);
	assert_int_not_equal(user->doorbells[1], after);
	close(before);
	users_leave(&users, user);
}

/* The files that say which account it belongs to may change while it has clients. */
USERS_CASE("a uid that belongs to another account now is another user")
{
	struct user *before = enter(1000, 5), *after = enter(1000, 7);

	assert_ptr_not_equal(before, after);
	assert_int_equal(readers[0].doorbells.places[before->place].account, 5);
	assert_int_equal(readers[1].doorbells.places[before->place].account, 5);
	assert_int_equal(readers[0].doorbells.places[after->place].account, 7);
	assert_int_equal(ring(0, before->doorbells[0]), (int)before->place);
	assert_int_equal(ring(0, after->doorbells[0]), (int)after->place);
	users_leave(&users, before);
	assert_ptr_equal(enter(1000, 7), after);
	users_leave(&users, after);
	users_leave(&users, after);
	assert_ptr_equal(enter(1000, 5), before);
	users_leave(&users, before);
}

USERS_CASE("an account has users until they are dropped")
{
	users_leave(&users, enter(1000, 5));
	users_leave(&users, enter(1001, 5));
	users_leave(&users, enter(1002, 6));
	assert_true(users_have_account(&users, 5));
	assert_false(users_have_account(&users, 1000));
	users_drop_away(&users);
	assert_false(users_have_account(&users, 5));
}

/* A new account may ask for each of the others, on the main thread. */
USERS_CASE("whether an account has users is known without a look at each user")
{
	unsigned n;

	users_leave(&users, enter(1000, 5));
	users_leave(&users, enter(1001, 5));
	n = users.n;
	users.n = 0;
	assert_true(users_have_account(&users, 5));
	assert_false(users_have_account(&users, 6));
	users.n = n;
}

USERS_CASE("memory is given back although a client keeps its descriptor")
{
	struct user *user = enter(1000, 5);
	int kept = dup(user->wakeups_fd);
	struct page_wakeup wakeup;

	page_wakeup_announce(&user->wakeups[0]);
	assert_int_equal(pread(kept, &wakeup, sizeof wakeup, 0), sizeof wakeup);
	assert_int_equal(wakeup.n_rung, 1);
	users_leave(&users, user);
	users_drop_away(&users);
	assert_int_equal(pread(kept, &wakeup, sizeof wakeup, 0), sizeof wakeup);
	assert_int_equal(wakeup.n_rung, 0);
	assert_int_equal(lseek(kept, 0, SEEK_DATA), -1);
	close(kept);
}

/* Each attempt has room for one descriptor more, until there are enough. */
USERS_CASE("errors leave nothing behind")
{
	long n_before = count_open_descriptors();
	struct rlimit limit, low;
	struct user *user = NULL;
	unsigned n_failed = 0;
	int r, first = dup(0);

	close(first);
	getrlimit(RLIMIT_NOFILE, &limit);
	low = limit;
	for (low.rlim_cur = (rlim_t)first; !user; low.rlim_cur++) {
		setrlimit(RLIMIT_NOFILE, &low);
		r = users_enter(&users, 1000, 5, &user);
		setrlimit(RLIMIT_NOFILE, &limit);
		if (r == 0)
			break;
		assert_int_equal(r, -EMFILE);
		assert_null(user);
		wait_until_closed();
		assert_int_equal(count_open_descriptors(), n_before);
		assert_false(is_there(1000));
		assert_int_equal(users.n_away, 0);
		n_failed++;
	}
	assert_true(n_failed >= 1 + READERS);
	users_leave(&users, user);
}

USERS_CASE("doorbells that cannot be renewed stay")
{
	struct user *user = enter(1000, 5);
	long n_before = count_open_descriptors();
	struct rlimit limit, low;
	int first = dup(0), doorbell = user->doorbells[0];

	close(first);
	getrlimit(RLIMIT_NOFILE, &limit);
	low = (struct rlimit){ (rlim_t)first + 1, limit.rlim_max };
	setrlimit(RLIMIT_NOFILE, &low);
	assert_int_equal(users_renew_doorbells(&users, user), -EMFILE);
	setrlimit(RLIMIT_NOFILE, &limit);
	assert_int_equal(count_open_descriptors(), n_before);
	assert_int_equal(user->doorbells[0], doorbell);
	assert_int_equal(ring(0, doorbell), (int)user->place);
	users_leave(&users, user);
}
