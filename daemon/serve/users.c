/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/users.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macro.h"
#include "daemon/base/memfd.h"

static const uint64_t RENEW_NS = 1000000000;

int users_init(
	struct users *users, struct reader readers[], unsigned n_readers, struct closers *closers)
{
	*users = (struct users){
		.readers = readers,
		.n_readers = n_readers,
		.closers = closers,
		.most_away = USERS_AWAY_MAX,
		.table = calloc(USERS_MAX, sizeof(struct user *)),
		.n_of_account = calloc(USERS_MAX, sizeof *users->n_of_account),
	};
	return users->table && users->n_of_account ? 0 : -ENOMEM;
}

/* --- doorbells --- */

static void close_doorbells(struct users *users, const struct user *user, int doorbells[])
{
	for (unsigned s = 0; s < users->n_readers; s++)
		closers_close_doorbell(users->closers, user->account,
			users->readers[s].doorbells.epoll_fd, &doorbells[s]);
}

/* Makes all doorbells, or none: then all are -1. */
static int make_doorbells(struct users *users, int ret_doorbells[])
{
	int r = 0;

	for (unsigned s = 0; s < users->n_readers; s++) {
		ret_doorbells[s] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (ret_doorbells[s] < 0)
			r = -errno;
	}
	for (unsigned s = 0; s < users->n_readers && r < 0; s++)
		close_fd(&ret_doorbells[s]); /* no client has it yet */
	return r;
}

static int listen_to(struct users *users, const struct user *user)
{
	int r = 0;

	for (unsigned s = 0; s < users->n_readers && r >= 0; s++)
		r = doorbells_add(&users->readers[s].doorbells, user->place, user->account,
			user->doorbells[s], &user->wakeups[s]);
	return r;
}

int users_renew_doorbells(struct users *users, struct user *user)
{
	uint64_t now_ns = clock_now_ns();
	int old[PAGE_SOCKETS_MAX], new[PAGE_SOCKETS_MAX];
	int r;

	if (user->renewed_ns && now_ns - user->renewed_ns < RENEW_NS)
		return 0;
	r = make_doorbells(users, new);
	for (unsigned s = 0; s < users->n_readers && r >= 0; s++)
		r = doorbells_watch(&users->readers[s].doorbells, user->place, new[s]);
	if (r < 0) {
		close_doorbells(users, user, new);
		return r;
	}
	memcpy(old, user->doorbells, sizeof old);
	memcpy(user->doorbells, new, sizeof new);
	close_doorbells(users, user, old);
	user->renewed_ns = now_ns;
	return 0;
}

/* --- wake-ups --- */

static size_t wakeups_bytes(const struct users *users)
{
	return users->n_readers * sizeof(struct page_wakeup) + sizeof(struct page_rules);
}

static int open_wakeups(const struct users *users, struct user *user)
{
	size_t bytes = wakeups_bytes(users);
	_cleanup_close_ int fd = memfd_new("uncored-wakeups", bytes, 0444);

	if (fd < 0)
		return fd;
	user->wakeups = memfd_map(fd, bytes);
	if (!user->wakeups)
		return -errno;
	user->wakeups_fd = memfd_reopen_read_only(fd);
	return user->wakeups_fd < 0 ? user->wakeups_fd : 0;
}

static void users_tell_one(const struct users *users, struct user *user)
{
	for (unsigned s = 0; s < users->n_readers; s++)
		page_wakeup_tell_quantum(&user->wakeups[s], users->quantum);
	page_rules_write((void *)&user->wakeups[users->n_readers], &users->rules);
}

/* A client may keep its descriptor for ever, but must not keep our memory: MADV_REMOVE frees it. */
static void close_wakeups(const struct users *users, struct user *user)
{
	if (user->wakeups) {
		madvise(user->wakeups, wakeups_bytes(users), MADV_REMOVE);
		munmap(user->wakeups, wakeups_bytes(users));
	}
	close_fd(&user->wakeups_fd);
}

/* --- users --- */

static struct user *users_find(const struct users *users, uint32_t uid, unsigned account)
{
	for (unsigned i = 0; i < users->n; i++) {
		struct user *user = users->table[i];

		if (user && user->uid == uid && user->account == account)
			return user;
	}
	return NULL;
}

static int users_free_place(const struct users *users)
{
	for (unsigned i = 0; i < USERS_MAX; i++)
		if (!users->table[i])
			return (int)i;
	return -ENOSPC;
}

/* @user may be half built. */
static void user_free(struct users *users, struct user *user)
{
	for (unsigned s = 0; s < users->n_readers; s++)
		doorbells_remove(&users->readers[s].doorbells, user->place);
	close_doorbells(users, user, user->doorbells);
	close_wakeups(users, user);
	users->table[user->place] = NULL;
	users->n_of_account[user->account]--;
	users->n_away--;
	free(user);
}

static int user_new(struct users *users, uint32_t uid, unsigned account, struct user **ret)
{
	struct user *user = malloc(sizeof *user);
	int r, place = users_free_place(users);

	if (!user || place < 0) {
		free(user);
		return place < 0 ? place : -ENOMEM;
	}
	*user = (struct user){
		.place = (unsigned)place, .uid = uid, .account = account, .wakeups_fd = -1
	};
	memset(user->doorbells, -1, sizeof user->doorbells);
	users->table[place] = user;
	users->n_of_account[account]++;
	if (users->n <= (unsigned)place)
		users->n = (unsigned)place + 1;
	users->n_away++;
	r = open_wakeups(users, user);
	if (r >= 0)
		r = make_doorbells(users, user->doorbells);
	if (r >= 0)
		r = listen_to(users, user);
	if (r < 0) {
		user_free(users, user);
		return r;
	}
	users_tell_one(users, user);
	*ret = user;
	return 0;
}

static void count_clients(struct users *users, struct user *user, int change)
{
	user->n_clients += change;
	users->n_clients += change;
	for (unsigned s = 0; s < users->n_readers; s++)
		doorbells_count_clients(&users->readers[s].doorbells, user->place, change);
}

int users_enter(struct users *users, uint32_t uid, unsigned account, struct user **ret)
{
	struct user *user = users_find(users, uid, account);
	int r = user ? 0 : user_new(users, uid, account, &user);

	if (r < 0)
		return r;
	if (!user->n_clients)
		users->n_away--;
	count_clients(users, user, 1);
	*ret = user;
	return 0;
}

static struct user *longest_away(const struct users *users)
{
	struct user *found = NULL;

	for (unsigned i = 0; i < users->n; i++) {
		struct user *user = users->table[i];

		if (user && !user->n_clients && (!found || user->left_ns < found->left_ns))
			found = user;
	}
	return found;
}

void users_leave(struct users *users, struct user *user)
{
	struct user *away;

	count_clients(users, user, -1);
	if (user->n_clients)
		return;
	user->left_ns = clock_now_ns();
	users->n_away++;
	away = users->n_away > users->most_away ? longest_away(users) : NULL;
	if (away)
		user_free(users, away);
}

void users_tell(struct users *users, uint32_t quantum, const struct rules *rules)
{
	users->quantum = quantum;
	users->rules = *rules;
	for (unsigned i = 0; i < users->n; i++)
		if (users->table[i])
			users_tell_one(users, users->table[i]);
}

bool users_have_account(const struct users *users, unsigned account)
{
	return users->n_of_account[account];
}

void users_drop_away(struct users *users)
{
	for (unsigned i = 0; i < users->n; i++)
		if (users->table[i] && !users->table[i]->n_clients)
			user_free(users, users->table[i]);
}

void users_done(struct users *users)
{
	users_drop_away(users);
	free(users->table);
	free(users->n_of_account);
	*users = (struct users){};
}
