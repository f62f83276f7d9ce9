/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of teams of some uids, in a time of their own: a line of steps, in which processes
 * join, tables come alive and end, time goes by, and another process takes over what the service
 * manager kept, with any name on one of the memfds. Whatever happens, the bounds hold, a table that
 * is alive stays until it is forgotten, and no user's table goes for one of a user that has as
 * many.
 */
#include <dlfcn.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/macro.h"
#include "daemon/base/memfd.h"
#include "daemon/base/notify.h"
#include "daemon/teams/team-room.h"
#include "daemon/teams/teams.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

enum { UIDS = 4, NAMES = 64, BYTES = 65536, FDS_MAX = 1024 };

static struct team_list *list;
static uint64_t now_ns;
static bool is_alive[FDS_MAX]; /* by descriptor */

/* --- in the place of the C library: the input says which tables are locked --- */

int fcntl(int fd, int command, ...)
{
	int (*real)(int, int, ...) = (int (*)(int, int, ...))dlsym(RTLD_NEXT, "fcntl");
	va_list args;
	void *argument;

	va_start(args, command);
	argument = va_arg(args, void *);
	va_end(args);
	if (command == F_GETLK && fd < FDS_MAX) {
		((struct flock *)argument)->l_type = is_alive[fd] ? F_WRLCK : F_UNLCK;
		return 0;
	}
	return real(fd, command, argument);
}

/* --- in the place of the service manager, and of memory --- */

static bool is_deaf;

int notify_send(const char *message, const int fds[], unsigned n_fds)
{
	(void)message;
	(void)fds;
	(void)n_fds;
	return is_deaf ? -EAGAIN : 0;
}

/* What members have written into the table with this descriptor, in units of 16 MiB. */
static uint8_t filled[FDS_MAX];

int fstat(int fd, struct stat *ret)
{
	static int (*real)(int, struct stat *);
	int r;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "fstat");
	r = real(fd, ret);
	if (r == 0 && fd < FDS_MAX)
		ret->st_blocks += filled[fd] * (16 * 1024 * 1024 / 512);
	return r;
}

/* --- what must hold --- */

static unsigned count_of(uint32_t uid)
{
	unsigned n = 0;

	for (unsigned i = 0; i < list->n; i++)
		n += list->table[i].uid == uid;
	return n;
}

static void check_list(void)
{
	if (list->n > TEAMS_MAX)
		abort();
	for (unsigned i = 0; i < list->n; i++) {
		const struct team *team = &list->table[i];

		if (!list->places[team->place] || !team->run || !team_name_is_valid(team->name) ||
			!team_may_have(team->bytes) ||
			(i && team->made_ns < list->table[i - 1].made_ns))
			abort();
		for (unsigned k = 0; k < i; k++)
			if (list->table[k].place == team->place || list->table[k].fd == team->fd)
				abort();
	}
}

static unsigned count_alive(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < list->n; i++)
		n += is_alive[list->table[i].fd];
	return n;
}

/* --- steps --- */

static uint32_t take_uid(void)
{
	return 1000 + take_byte() % UIDS;
}

/* The uids 1002 and 1003 have one account. */
static uint64_t account_of(uint32_t uid)
{
	return uid < 1002 ? uid : 1002;
}

static struct teams_wish take_wish(char name[16])
{
	uint32_t uid = take_uid();
	uint8_t bits = take_byte();

	snprintf(name, 16, "job%u", bits % NAMES);
	return (struct teams_wish){
		.uid = uid,
		.account = account_of(uid),
		.name = name,
		.layout = bits >> 7,
		.run = bits == 0x7e ? UINT32_MAX : take_byte() % 4,
		.bytes = bits == 0x7f   ? 100
			 : bits == 0x7d ? 0
					: BYTES,
	};
}

/* What a uid has. */
struct holding {
	unsigned n_tables, filled;
};

static struct holding holding_of(uint32_t uid)
{
	struct holding holding = { .n_tables = count_of(uid) };

	for (unsigned i = 0; i < list->n; i++)
		if (list->table[i].uid == uid)
			holding.filled += filled[list->table[i].fd];
	return holding;
}

/* After a join, with what each uid had before. Where a smaller limit makes several tables go at
 * once, the uids take turns. */
static void check_losses(const struct holding before[UIDS], uint32_t uid)
{
	const struct holding own = before[uid - 1000];
	unsigned n_before = 0;

	for (uint32_t i = 0; i < UIDS; i++)
		n_before += before[i].n_tables;
	if (n_before > list->n)
		return;

	for (uint32_t i = 0; i < UIDS; i++) {
		bool shares = account_of(1000 + i) == account_of(uid);
		bool has_more = before[i].n_tables > own.n_tables || before[i].filled > own.filled;

		if (1000 + i != uid && count_of(1000 + i) < before[i].n_tables && shares &&
			!has_more)
			abort();
	}
	if (count_of(uid) > TEAMS_OF_UID_MAX)
		abort();
}

static void step_join(void)
{
	unsigned n_alive = count_alive();
	struct holding before[UIDS];
	const struct team *team = NULL;
	struct teams_wish wish;
	char name[16];
	int r;

	for (uint32_t i = 0; i < UIDS; i++)
		before[i] = holding_of(1000 + i);
	wish = take_wish(name);
	r = teams_join(list, &wish, now_ns, &team);
	if (r >= 0 && (team->uid != wish.uid || team->run <= wish.run ||
			      team->layout != wish.layout || strcmp(team->name, name) != 0))
		abort();
	if (r == 1)
		is_alive[team->fd] = false;
	if (count_alive() != n_alive)
		abort();
	if (r == 1)
		check_losses(before, wish.uid);
}

static void step_find(void)
{
	uint32_t uid = take_uid();
	const struct team *team = team_list_find_number(list, uid, take_byte() % 8);
	unsigned n_alive = count_alive();

	if (team && (team->uid != uid || !team_list_has(list, uid) ||
			    !team_list_find(list, uid, team->name, team->run)))
		abort();
	teams_review_uid(list, uid, now_ns);
	if (count_alive() != n_alive)
		abort();
}

static void step_forget(void)
{
	unsigned n = list->n;
	char name[16];
	struct teams_wish wish = take_wish(name);

	if (list->n + teams_forget(list, &wish) != n && list->n + 1 != n)
		abort();
}

static void step_live(void)
{
	if (list->n)
		is_alive[list->table[take_byte() % list->n].fd] ^= true;
}

static void step_wait(void)
{
	now_ns += take_byte() * UINT64_C(60000000000);
}

static void step_review(void)
{
	unsigned n_alive = count_alive();

	if (teams_review(list, now_ns) <= now_ns || count_alive() != n_alive ||
		teams_count_alive(list, now_ns) != n_alive)
		abort();
}

static void step_limit(void)
{
	team_list_limit(list, 1 + take_byte());
}

static void step_fill(void)
{
	uint8_t at = take_byte(), n = take_byte();

	if (list->n)
		filled[list->table[at % list->n].fd] = n;
}

/* A client of the uid has left. No table that lives goes. */
static void step_leave(void)
{
	unsigned n_alive = count_alive();

	team_room_enforce_uid(list, take_uid(), now_ns);
	if (count_alive() != n_alive)
		abort();
}

static void step_look(void)
{
	unsigned n_alive = count_alive();

	team_room_enforce(list, now_ns);
	if (count_alive() != n_alive)
		abort();
}

static void step_deafen(void)
{
	is_deaf = !is_deaf;
	team_list_tell(list);
}

/* --- restarts --- */

static int open_read_only(const char *name)
{
	_cleanup_close_ int fd = memfd_new(name, BYTES, 0600);

	return memfd_reopen_read_only(fd);
}

/* What somebody may have put beside the tables. */
static int make_any(const char *name)
{
	switch (take_byte() % 8) {
	case 0:
		return memfd_new_growing(name, 0600);
	case 1:
		return memfd_new(name, 100, 0600);
	case 2:
		return memfd_new(name, (size_t)TEAM_BYTES_MAX * 2, 0600);
	case 3:
		return open_read_only(name);
	case 4:
		return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	case 5:
		return list->n ? fcntl(list->table[0].fd, F_DUPFD_CLOEXEC, 0)
			       : memfd_new(name, BYTES, 0600);
	default:
		return memfd_new(name, BYTES, 0600);
	}
}

static void take_name(char ret[64])
{
	size_t length = take_byte() % 48;

	strcpy(ret, length ? "uncored-team." : "owners");
	for (size_t at = strlen(ret); length--; at++)
		ret[at] = (char)take_byte();
}

/* The next process gets all tables, and something else; the younger tables first. */
static void step_restart(void)
{
	static struct fdstore_item items[TEAMS_MAX + 1];
	static char names[TEAMS_MAX + 1][16];
	struct fdstore store = { .n = list->n + 1, .items = items };
	unsigned n_before = list->n;
	char any[64] = "";

	for (unsigned i = 0; i < list->n; i++) {
		const struct team *team = &list->table[list->n - 1 - i];

		snprintf(names[i], sizeof names[i], "team%u", team->place);
		items[i] =
			(struct fdstore_item){ fcntl(team->fd, F_DUPFD_CLOEXEC, 0), names[i], 0 };
	}
	take_name(any);
	snprintf(names[list->n], sizeof names[0], strcmp(any, "owners") ? "team%u" : "owners%u",
		take_byte() * 4);
	items[list->n] = (struct fdstore_item){ make_any(any), names[list->n], 0 };
	list = team_list_free(list);
	memset(is_alive, 0, sizeof is_alive);
	memset(filled, 0, sizeof filled);
	if (team_list_new(&store, &list) < 0)
		errx(1, "No memory.");
	if (list->n < n_before || list->n > n_before + 1)
		abort();
	team_list_keep(list);
	close_fd(&items[n_before].fd); /* what does not belong to a table is left in the store */
}

/* --- running --- */

static void (*const steps[])(void) = { step_join, step_join, step_find, step_forget, step_live,
	step_wait, step_review, step_limit, step_restart };

/* Of the highest bytes, so that inputs of the others keep their meaning. */
static void (*const later_steps[])(void) = { step_fill, step_leave, step_look, step_deafen };

static void step(uint8_t byte)
{
	const unsigned first = 256 - ARRAY_SIZE(later_steps);

	if (byte >= first)
		later_steps[byte - first]();
	else
		steps[byte % ARRAY_SIZE(steps)]();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct fdstore nothing = {};

	input.data = data;
	input.size_bytes = size_bytes;
	now_ns = 1;
	memset(is_alive, 0, sizeof is_alive);
	memset(filled, 0, sizeof filled);
	is_deaf = false;
	if (team_list_new(&nothing, &list) < 0)
		errx(1, "No memory.");
	while (input.size_bytes) {
		step(take_byte());
		check_list();
		now_ns++;
	}
	list = team_list_free(list);
	return 0;
}
