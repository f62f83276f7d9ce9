/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables that uncored keeps for teams, with processes that hold locks on them. */
#include "daemon/teams/teams.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/macro.h"
#include "daemon/base/memfd.h"
#include "daemon/base/notify.h"
#include "daemon/teams/team-room.h"
#include "tests/harness/service-manager.h"
#include "tests/harness/test.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U /* linux/memfd.h since Linux 6.3 */
#endif

enum { ALICE = 1000, BOB = 1001, SUBORDINATE = 100000, LAYOUT = 7, MIB = 1 << 20 };
enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };

static const uint64_t HOUR_NS = TEAMS_KEPT_S * UINT64_C(1000000000);

static struct team_list *list;
static uint64_t now_ns; /* of the cases; each join takes a nanosecond */

static int set_up(void **state)
{
	struct fdstore nothing = {};

	now_ns = 1000;
	*state = (void *)count_open_descriptors();
	return team_list_new(&nothing, &list);
}

static int tear_down(void **state)
{
	list = team_list_free(list);
	return compare_descriptors(state);
}

#define TEAM_CASE(sentence) CASE_WITHIN(sentence, set_up, tear_down)

static int join(uint32_t uid, const char *name, uint32_t after_run, const struct team **ret)
{
	const struct teams_wish wish = {
		.uid = uid,
		.account = uid >= SUBORDINATE ? ALICE : uid,
		.name = name,
		.layout = LAYOUT,
		.run = after_run,
		.bytes = MIB,
	};

	return teams_join(list, &wish, ++now_ns, ret);
}

static const struct team *join_new(uint32_t uid, const char *name, uint32_t after_run)
{
	const struct team *team = NULL;

	assert_int_equal(join(uid, name, after_run, &team), 1);
	return team;
}

static ino_t inode_of(const struct team *team)
{
	struct stat status;

	assert_int_equal(fstat(team->fd, &status), 0);
	return status.st_ino;
}

/* --- memory --- */

static blkcnt_t counted_times = 1; /* as often as a block is counted */

/* The C library's fstat(), which pretends that files take more memory. */
int fstat(int fd, struct stat *ret)
{
	int (*real)(int, struct stat *) = dlsym(RTLD_NEXT, "fstat");
	int r = real(fd, ret);

	ret->st_blocks *= counted_times;
	return r;
}

/* --- time --- */

static long thread_step_ns; /* that the thread's clock goes on each time it is read */
static unsigned steps_left = UINT_MAX;

/* The C library's clock_gettime(), which pretends that work takes longer. */
int clock_gettime(clockid_t clock, struct timespec *ret)
{
	int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
	static long thread_ns;
	int r = real(clock, ret);

	if (clock == CLOCK_THREAD_CPUTIME_ID) {
		if (thread_step_ns && steps_left && steps_left--)
			thread_ns += thread_step_ns;
		ret->tv_nsec = thread_ns % 1000000000;
		ret->tv_sec = thread_ns / 1000000000;
	}
	return r;
}

/* --- members --- */

/* A child that holds a lock on @slot of @team, for end(). */
static pid_t start_member(const struct team *team, int slot)
{
	struct flock lock = { .l_type = F_WRLCK, .l_start = slot, .l_len = 1 };
	int ends[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		if (fcntl(team->fd, F_SETLK, &lock) < 0 || write(ends[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* --- cases --- */

TEAM_CASE("processes of a uid get one table by its name")
{
	const struct team *team = join_new(ALICE, "slurm.1.0", 0);
	ino_t inode = inode_of(team);

	assert_int_equal(team->run, 1);
	assert_int_equal(memfd_bytes(team->fd), MIB);
	assert_int_equal(fcntl(team->fd, F_GET_SEALS) & SEALS, SEALS);
	assert_int_equal(join(ALICE, "slurm.1.0", 0, &team), 0);
	assert_int_equal(inode_of(team), inode);
	assert_int_not_equal(inode_of(join_new(BOB, "slurm.1.0", 0)), inode);
	assert_int_not_equal(inode_of(join_new(ALICE, "slurm.1.1", 0)), inode);
}

static unsigned count_others(const char *name, uint32_t run)
{
	return team_count_others(team_list_find(list, ALICE, name, run));
}

TEAM_CASE("tables of a uid that are alive at the same time have met")
{
	const pid_t ended = start_member(join_new(ALICE, "ended", 0), 0);
	pid_t first, second;

	end(ended);
	first = start_member(join_new(ALICE, "first", 0), 0);
	end(start_member(join_new(BOB, "other", 0), 0));
	join_new(ALICE, "first", 1); /* the next run of the same name */
	assert_int_equal(count_others("first", 1), 0);
	second = start_member(join_new(ALICE, "second", 0), 0);
	assert_int_equal(count_others("first", 1), 1);
	assert_string_equal(team_list_find(list, ALICE, "first", 1)->other, "second");
	assert_string_equal(team_list_find(list, ALICE, "second", 0)->other, "first");
	end(start_member(join_new(ALICE, "third", 0), 0));
	teams_note_others(list, team_list_find(list, ALICE, "first", 1), ++now_ns);
	assert_int_equal(count_others("first", 1), 2);
	assert_int_equal(count_others("third", 0), 2);
	assert_string_equal(team_list_find(list, ALICE, "first", 1)->other, "second");
	assert_int_equal(count_others("ended", 0), 0);
	end(first);
	end(second);
}

TEAM_CASE("another layout is another table")
{
	struct teams_wish wish = {
		.uid = ALICE, .name = "job", .layout = LAYOUT + 1, .bytes = MIB
	};
	const struct team *team;
	ino_t inode = inode_of(join_new(ALICE, "job", 0));

	assert_int_equal(teams_join(list, &wish, ++now_ns, &team), 1);
	assert_int_not_equal(inode_of(team), inode);
	assert_int_equal(team_list_find(list, ALICE, "job", 0)->layout, LAYOUT + 1);
	assert_int_equal(team_list_find(list, ALICE, "job", 1)->layout, LAYOUT + 1);
	wish.run = 1;
	assert_true(teams_forget(list, &wish));
	assert_int_equal(team_list_find(list, ALICE, "job", 0)->layout, LAYOUT);
}

TEAM_CASE("a run that ended is followed by one other")
{
	const struct team *team;

	join_new(ALICE, "job", 0);
	assert_int_equal(join_new(ALICE, "job", 1)->run, 2);
	assert_int_equal(join(ALICE, "job", 1, &team), 0);
	assert_int_equal(team->run, 2);
	assert_int_equal(join(ALICE, "job", 0, &team), 0);
	assert_int_equal(team->run, 2);
	assert_int_equal(join_new(ALICE, "job", 8)->run, 9); /* those between are gone */
	assert_int_equal(team_list_find(list, ALICE, "job", 1)->run, 1);
	assert_int_equal(team_list_find(list, ALICE, "job", 0)->run, 9);
	assert_null(team_list_find(list, ALICE, "job", 3));
	assert_int_equal(join(ALICE, "job", UINT32_MAX, &team), -EINVAL);
}

TEAM_CASE("a table takes whole pages, and not too many")
{
	static const uint64_t wrong[] = { 0, 1, MIB + 1, TEAM_BYTES_MAX + UINT64_C(65536),
		UINT64_MAX };
	struct teams_wish wish = { .uid = ALICE, .name = "job", .bytes = TEAM_BYTES_MAX };
	const struct team *team;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		const struct teams_wish bad = { .uid = ALICE, .name = "bad", .bytes = wrong[i] };

		assert_int_equal(teams_join(list, &bad, ++now_ns, &team), -EINVAL);
	}
	assert_int_equal(teams_join(list, &wish, ++now_ns, &team), 1);
	assert_int_equal(list->n, 1);
}

TEAM_CASE("tables are found by number, and forgotten")
{
	const struct teams_wish first = { .uid = ALICE, .name = "a", .layout = LAYOUT, .run = 1 };

	join_new(ALICE, "a", 0);
	join_new(BOB, "b", 0);
	join_new(ALICE, "c", 0);
	assert_true(team_list_has(list, BOB));
	assert_string_equal(team_list_find_number(list, ALICE, 0)->name, "a");
	assert_string_equal(team_list_find_number(list, ALICE, 1)->name, "c");
	assert_null(team_list_find_number(list, ALICE, 2));
	assert_true(teams_forget(list, &first));
	assert_false(teams_forget(list, &first));
	assert_string_equal(team_list_find_number(list, ALICE, 0)->name, "c");
	assert_int_equal(join_new(ALICE, "a", 0)->run, 1);
}

TEAM_CASE("a team is alive while a member holds its slot, until it is killed")
{
	const struct team *team = join_new(ALICE, "job", 0);
	pid_t first, last;

	assert_int_equal(teams_count_alive(list, now_ns), 0);
	first = start_member(team, 0);
	last = start_member(team, TEAM_SLOTS_MAX - 1);
	assert_int_equal(teams_count_alive(list, now_ns), 1);
	end(first);
	assert_int_equal(teams_count_alive(list, now_ns), 1);
	end(last);
	assert_int_equal(teams_count_alive(list, now_ns), 0);
}

TEAM_CASE("a lock behind the slots keeps nothing alive")
{
	pid_t member = start_member(join_new(ALICE, "job", 0), TEAM_SLOTS_MAX);

	assert_int_equal(teams_count_alive(list, now_ns), 0);
	end(member);
}

/* As one on which a user has set thousands of locks. */
TEAM_CASE("a table that is slow to look at is looked at once a minute while it lives")
{
	const uint64_t minute_ns = 60000000000;
	pid_t member = start_member(join_new(ALICE, "job", 0), 0);

	thread_step_ns = 300000;
	assert_int_equal(teams_count_alive(list, now_ns), 1);
	thread_step_ns = 0;
	end(member);
	assert_int_equal(teams_count_alive(list, now_ns + minute_ns - 1), 1);
	assert_int_equal(teams_count_alive(list, now_ns + minute_ns), 0);
	assert_int_equal(list->table[0].alive_ns, now_ns);
}

TEAM_CASE("a table that is slow to look at and has ended is looked at once a minute, too")
{
	const uint64_t minute_ns = 60000000000;
	pid_t member;

	join_new(ALICE, "job", 0);
	thread_step_ns = 300000;
	assert_int_equal(teams_count_alive(list, now_ns), 0);
	thread_step_ns = 0;
	member = start_member(&list->table[0], 0);
	assert_int_equal(teams_count_alive(list, now_ns + minute_ns - 1), 0);
	assert_int_equal(teams_count_alive(list, now_ns + minute_ns), 1);
	end(member);
}

/* As one on which a user has set millions of locks. */
TEAM_CASE("a table that takes long to look at counts as ended")
{
	pid_t member = start_member(join_new(ALICE, "job", 0), 0);

	assert_int_equal(teams_count_alive(list, now_ns), 1);
	thread_step_ns = 30000000;
	assert_int_equal(teams_count_alive(list, now_ns), 0);
	thread_step_ns = 0;
	assert_int_equal(teams_count_alive(list, now_ns), 0);
	teams_review(list, now_ns + HOUR_NS);
	assert_int_equal(list->n, 0);
	end(member);
}

/* The two readings of the clock around one look. */
TEAM_CASE("a table at which one look was slow, because the host took the CPU, is looked at again")
{
	static const long steps_ns[] = { 300000, 30000000 };
	pid_t member = start_member(join_new(ALICE, "job", 0), 0);

	for (size_t i = 0; i < ARRAY_SIZE(steps_ns); i++) {
		thread_step_ns = steps_ns[i];
		steps_left = 2;
		assert_int_equal(teams_count_alive(list, now_ns), 1);
	}
	thread_step_ns = 0;
	steps_left = UINT_MAX;
	end(member);
	assert_int_equal(teams_count_alive(list, now_ns), 0);
}

TEAM_CASE("an ended table is kept for an hour")
{
	pid_t member = start_member(join_new(ALICE, "job", 0), 3);
	uint64_t ended_ns;

	now_ns += 3 * HOUR_NS;
	assert_int_equal(teams_review(list, now_ns) - now_ns, TEAMS_LOOK_S * UINT64_C(1000000000));
	assert_int_equal(list->n, 1);
	end(member);
	now_ns += TEAMS_LOOK_S * UINT64_C(1000000000);
	ended_ns = now_ns;
	teams_review(list, now_ns);
	assert_int_equal(teams_review(list, ended_ns + HOUR_NS - 5), ended_ns + HOUR_NS);
	assert_int_equal(list->n, 1);
	teams_review_uid(list, BOB, ended_ns + HOUR_NS);
	assert_int_equal(list->n, 1);
	teams_review_uid(list, ALICE, ended_ns + HOUR_NS);
	assert_int_equal(list->n, 0);
}

TEAM_CASE("a flood takes the oldest ended tables of its own user")
{
	pid_t member = start_member(join_new(ALICE, "alive", 0), 0);
	char name[16];

	join_new(BOB, "bob", 0);
	for (unsigned i = 0; i < 3 * TEAMS_OF_UID_MAX; i++) {
		snprintf(name, sizeof name, "flood%u", i);
		join_new(ALICE, name, 0);
	}
	assert_int_equal(list->n, TEAMS_OF_UID_MAX + 1);
	assert_non_null(team_list_find(list, BOB, "bob", 0));
	assert_non_null(team_list_find(list, ALICE, "alive", 0));
	assert_non_null(team_list_find(list, ALICE, name, 0));
	assert_null(team_list_find(list, ALICE, "flood64", 0));
	assert_non_null(team_list_find(list, ALICE, "flood65", 0));
	end(member);
}

TEAM_CASE("a user with too many teams that are alive gets no other")
{
	pid_t members[TEAMS_ALIVE_MAX];
	const struct team *team;
	char name[16];

	for (unsigned i = 0; i < TEAMS_ALIVE_MAX; i++) {
		snprintf(name, sizeof name, "job%u", i);
		members[i] = start_member(join_new(ALICE, name, 0), 0);
	}
	assert_int_equal(join(ALICE, "another", 0, &team), -EDQUOT);
	assert_int_equal(join(ALICE, "job3", 0, &team), 0);
	join_new(BOB, "another", 0);
	end(members[0]);
	join_new(ALICE, "another", 0);
	for (unsigned i = 1; i < TEAMS_ALIVE_MAX; i++)
		end(members[i]);
}

/* Four tables whose memory, by the fstat() above, is all that a user may have. */
TEAM_CASE("the memory that tables take has a bound")
{
	const struct team *team;

	for (unsigned run = 0; run < 8; run++)
		join_new(ALICE, "sparse", run);
	for (unsigned run = 0; run < 4; run++) {
		team = join_new(BOB, "large", run);
		assert_int_equal(fallocate(team->fd, 0, 0, MIB), 0);
	}
	counted_times = TEAMS_BYTES_OF_UID_MAX / (4 * MIB);
	join_new(BOB, "small", 0);
	counted_times = 1;
	assert_null(team_list_find(list, BOB, "large", 1));
	assert_non_null(team_list_find(list, BOB, "large", 2));
	assert_non_null(team_list_find(list, ALICE, "sparse", 1));
}

static void fill(const struct team *team)
{
	assert_int_equal(fallocate(team->fd, 0, 0, MIB), 0);
}

/* How many runs of the team "filled" are kept. */
static unsigned count_filled(uint32_t uid)
{
	unsigned n = 0;

	for (unsigned i = 0; i < list->n; i++)
		n += list->table[i].uid == uid && !strcmp(list->table[i].name, "filled");
	return n;
}

/* Of Alice's tables, by the fstat() above, four take all that she may have. */
TEAM_CASE("a table that was filled later goes within a minute of its end")
{
	const uint64_t minute_ns = TEAMS_LOOK_S * UINT64_C(1000000000);
	pid_t member;

	join_new(ALICE, "empty", 0);
	fill(join_new(BOB, "filled", 0));
	for (unsigned run = 0; run < 7; run++)
		fill(join_new(ALICE, "filled", run));
	member = start_member(team_list_find(list, ALICE, "filled", 2), 0);
	teams_review(list, now_ns);
	counted_times = TEAMS_BYTES_OF_UID_MAX / (4 * MIB);
	assert_int_equal(count_filled(ALICE), 7);
	assert_int_equal(teams_review(list, now_ns + minute_ns), now_ns + 2 * minute_ns);
	counted_times = 1;
	assert_int_equal(count_filled(ALICE), 4);
	assert_non_null(team_list_find(list, ALICE, "empty", 1));
	assert_null(team_list_find(list, ALICE, "filled", 1));
	assert_non_null(team_list_find(list, ALICE, "filled", 2)); /* is alive */
	assert_null(team_list_find(list, ALICE, "filled", 4));
	assert_non_null(team_list_find(list, ALICE, "filled", 5));
	assert_int_equal(count_filled(BOB), 1);
	end(member);
}

TEAM_CASE("a table is reported if no more than its header is left, or was never filled")
{
	const struct team *team = join_new(ALICE, "job", 0);
	struct team copy = *team;

	assert_true(team_is_reported(&copy));
	fill(team);
	assert_false(team_is_reported(&copy));
	assert_int_equal(fallocate(team->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				 TEAM_REPORTED_BYTES, MIB - TEAM_REPORTED_BYTES),
		0);
	assert_true(team_is_reported(&copy));
}

TEAM_CASE("what living processes have filled stays")
{
	pid_t members[2];

	for (unsigned run = 0; run < 2; run++) {
		const struct team *team = join_new(ALICE, "filled", run);

		fill(team);
		members[run] = start_member(team, 0);
	}
	counted_times = TEAMS_BYTES_OF_UID_MAX / MIB;
	team_room_enforce_uid(list, ALICE, now_ns);
	assert_int_equal(count_filled(ALICE), 2);
	end(members[1]);
	team_room_enforce_uid(list, ALICE, now_ns);
	assert_int_equal(count_filled(ALICE), 1);
	end(members[0]);
	team_room_enforce_uid(list, ALICE, now_ns);
	counted_times = 1;
	assert_int_equal(count_filled(ALICE), 1);
}

/* Four subordinate uids of Alice have all that each may have, and so all that she may have. */
TEAM_CASE("an account gives tables of the uid that has the most")
{
	for (uint32_t uid = SUBORDINATE; uid < SUBORDINATE + 4; uid++)
		for (unsigned run = 0; run < 4; run++)
			fill(join_new(uid, "filled", run));
	for (unsigned run = 0; run < 2; run++)
		fill(join_new(ALICE, "filled", run));
	fill(join_new(BOB, "filled", 0));
	counted_times = TEAMS_BYTES_OF_UID_MAX / (4 * MIB);
	team_room_enforce(list, now_ns);
	counted_times = 1;
	assert_int_equal(count_filled(SUBORDINATE), 3);
	assert_int_equal(count_filled(SUBORDINATE + 1), 3);
	assert_int_equal(count_filled(SUBORDINATE + 2), 4);
	assert_int_equal(count_filled(ALICE), 2);
	assert_int_equal(count_filled(BOB), 1);
}

/* In hundredths of a second. */
TEAM_CASE("a run has a number by the time at which it began")
{
	const uint64_t day_ns = 24 * HOUR_NS;
	struct fdstore nothing = {};
	uint32_t first, second;

	now_ns = day_ns;
	first = join_new(ALICE, "job", 0)->run;
	assert_int_equal(first, 24 * 3600 * 100 + 1);
	second = join_new(ALICE, "job", first)->run; /* in the same hundredth */
	assert_int_equal(second, first + 1);
	team_list_free(list); /* all tables are lost */
	assert_int_equal(team_list_new(&nothing, &list), 0);
	now_ns += 30000000;
	assert_true(join_new(ALICE, "job", 0)->run > second);
	now_ns = 497 * day_ns + 3 * HOUR_NS; /* the numbers have begun anew */
	assert_in_range(join_new(ALICE, "other", 0)->run, 1, 24 * 3600 * 100);
	assert_int_equal(join_new(ALICE, "other", UINT32_MAX - 2)->run, UINT32_MAX - 1);
}

TEAM_CASE("subordinate uids share the bounds of their account")
{
	join_new(BOB, "bob", 0);
	join_new(ALICE, "alice", 0);
	join_new(ALICE, "alice", 1);
	for (unsigned i = 0; i < 2 * TEAMS_OF_ACCOUNT_MAX; i++)
		join_new(SUBORDINATE + i, "job", 0);
	assert_int_equal(list->n, TEAMS_OF_ACCOUNT_MAX + 1);
	assert_non_null(team_list_find(list, BOB, "bob", 0));
}

TEAM_CASE("where all places are taken, the largest account gives one")
{
	const struct team *team;
	pid_t member;

	team_list_limit(list, 4);
	join_new(BOB, "bob", 0);
	for (unsigned run = 0; run < 3; run++)
		join_new(ALICE, "job", run);
	join_new(BOB + 1, "new", 0);
	assert_int_equal(list->n, 4);
	assert_null(team_list_find(list, ALICE, "job", 1));
	assert_non_null(team_list_find(list, BOB, "bob", 0));
	join_new(ALICE, "more", 0); /* has most, and gives one itself */
	assert_null(team_list_find(list, ALICE, "job", 2));
	team_list_limit(list, 1);
	member = start_member(team_list_find(list, ALICE, "job", 3), 0);
	assert_int_equal(join(BOB + 2, "new", 0, &team), -EDQUOT);
	end(member);
}

/* --- over a restart --- */

/* The descriptors that a manager would pass to the next process, under these names. */
static void pass(const int fds[], const char *const names[], unsigned n)
{
	struct fdstore_item items[8] = {};
	struct fdstore store = { .n = n, .items = items };

	for (unsigned i = 0; i < n; i++)
		items[i] = (struct fdstore_item){ fds[i], (char *)names[i], 0 };
	list = team_list_free(list);
	assert_int_equal(team_list_new(&store, &list), 0);
	for (unsigned i = 0; i < n; i++)
		close_fd(&items[i].fd); /* left in the store */
}

/* As the manager of a test keeps them; uncored was started with its socket in the environment. */
static unsigned count_kept(const struct service_manager *manager)
{
	unsigned n = 0;

	for (unsigned i = 0; i < manager->n_kept; i++)
		n += !strncmp(manager->kept[i].name, "team", 4);
	return n;
}

/* It reads no message while tables come and go, and then all. */
TEAM_CASE("a service manager that reads late gets the tables that are there")
{
	static struct service_manager manager;
	char path[64];

	alarm(60); /* nothing here may wait for the manager */
	snprintf(path, sizeof path, "/tmp/uncore-teams-%d", getpid());
	manager_open(&manager, path, true);
	setenv("NOTIFY_SOCKET", path, 1);
	notify_ready("Serving.");
	for (unsigned run = 0; run < 3 * TEAMS_OF_UID_MAX; run++)
		join_new(ALICE, "job", run);
	for (unsigned i = 0; i < TEAMS_MAX; i++) {
		manager_dispatch(&manager);
		team_list_tell(list);
	}
	assert_int_equal(list->n, TEAMS_OF_UID_MAX);
	assert_int_equal(count_kept(&manager), TEAMS_OF_UID_MAX);
	for (unsigned i = 0; i < list->n; i++) {
		char name[16];
		struct stat status;

		snprintf(name, sizeof name, "team%u", list->table[i].place);
		assert_int_equal(fstat(manager_find(&manager, name), &status), 0);
		assert_int_equal(status.st_ino, inode_of(&list->table[i]));
	}
	manager_close(&manager);
	unsetenv("NOTIFY_SOCKET");
	alarm(0);
}

static int copy_of(const struct team *team)
{
	return fcntl(team->fd, F_DUPFD_CLOEXEC, 0);
}

TEAM_CASE("tables come back from the store")
{
	static const char *const names[] = { "team9", "team0", "owners" };
	const struct team *alice = join_new(ALICE, "PMIX_namespace.{1}@%d", 0);
	ino_t inode = inode_of(alice);
	struct team before = *alice;
	const int fds[] = { copy_of(join_new(BOB, "b", 4)),
		copy_of(team_list_find(list, ALICE, before.name, 0)),
		memfd_new("owners", 4096, 0600) };
	const struct team *team;

	pass(fds, names, ARRAY_SIZE(fds));
	assert_int_equal(list->n, 2);
	team = team_list_find(list, ALICE, before.name, 1);
	assert_non_null(team);
	assert_int_equal(inode_of(team), inode);
	assert_int_equal(team->made_ns, before.made_ns);
	assert_int_equal(team->layout, LAYOUT);
	assert_int_equal(team->bytes, MIB);
	assert_ptr_equal(team, &list->table[0]); /* by age, not by name */
	assert_int_equal(team_list_find(list, BOB, "b", 0)->run, 5);
	assert_int_equal(join(BOB, "b", 5, &team), 1);
	assert_int_equal(team->place, 1); /* 0 and 9 are taken */
}

TEAM_CASE("what is not a table is dropped")
{
	static const char *const names[] = { "team0", "team1", "team2", "team3", "team4", "team0",
		"team512", "teamx" };
	const struct team *good = join_new(ALICE, "good", 0);
	const int fds[] = {
		copy_of(good),
		memfd_new_growing("uncored-team.1.1.7.5.open", 0600),
		memfd_new("uncored-team.1.1.7.5.half-a-page", 100, 0600),
		memfd_new("uncored-team.1.0.7.5.no-run", 65536, 0600),
		copy_of(good),
		memfd_new("uncored-team.1.1.7.5.place-taken", 65536, 0600),
		memfd_new("uncored-team.1.1.7.5.no-such-place", 65536, 0600),
		memfd_new("uncored-team.1.1.7.5.no-place", 65536, 0600),
	};

	pass(fds, names, ARRAY_SIZE(fds));
	assert_int_equal(list->n, 1);
	assert_non_null(team_list_find(list, ALICE, "good", 0));
}

/* A table with these seals, and with @flags as the kernel adds them itself where the sysctl
 * vm.memfd_noexec is set. */
static int table_with(unsigned seals, unsigned flags)
{
	int fd = memfd_create("uncored-team.1.1.7.5.x", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);

	if (fd < 0)
		return -1;
	assert_int_equal(ftruncate(fd, MIB), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

TEAM_CASE("a table needs its seals, and may have others")
{
	static const struct {
		unsigned seals, flags;
		bool is_table;
	} rows[] = {
		{ SEALS, 0, true },
		{ SEALS, MFD_NOEXEC_SEAL, true },
		{ F_SEAL_GROW | F_SEAL_SEAL, MFD_NOEXEC_SEAL, false },
		{ F_SEAL_SHRINK | F_SEAL_SEAL, 0, false },
		{ F_SEAL_SHRINK | F_SEAL_GROW, 0, false },
	};
	struct team team;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int fd = table_with(rows[i].seals, rows[i].flags);

		if (fd < 0)
			continue; /* a kernel before 6.3 has no such flag */
		assert_int_equal(team_read_memfd(fd, &team), rows[i].is_table);
		close(fd);
	}
}

TEAM_CASE("names of memfds are read strictly")
{
	static const char *const wrong[] = { "uncored-page", "uncored-team.",
		"uncored-team.1.1.7.5", "uncored-team.1.1.7.5.", "uncored-team.1.1.7..x",
		"uncored-team.-1.1.7.5.x", "uncored-team.4294967296.1.7.5.x",
		"uncored-team.1.1.7.5.a b", "uncored-team.1.1.7.5.a:b",
		"uncored-team.1.1.7.99999999999999999999.x" };
	struct team team;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		int fd = memfd_new(wrong[i], 65536, 0600);

		assert_false(team_read_memfd(fd, &team));
		close(fd);
	}
	assert_false(team_read_memfd(STDIN_FILENO, &team));
}
