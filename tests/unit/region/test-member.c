/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who lives, and when a team is over, whatever order its processes come, go and die in. Each member
 * is a process that obeys this one. The tables, one for each run, are made here in uncored's place.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/collect/snapshot.h"
#include "client/libuncore/internal.h"
#include "client/region/cell.h"
#include "client/region/interval.h"
#include "client/region/team.h"
#include "common/clock.h"
#include "tests/unit/region/region-case.h"

enum { RUNS = 4, NO = 1, YES = 2 };

static struct {
	int fds[RUNS];
	uint32_t *newest;    /* run; shared */
	struct table *table; /* of run 1 */
} uncored;

/* --- uncored --- */

int team_join(const char *socket_path, const struct team_wish *wish, struct team_table *ret)
{
	(void)socket_path;
	if (*uncored.newest <= wish->after_run)
		*uncored.newest = wish->after_run + 1;
	CHECK(*uncored.newest <= RUNS);
	*ret = (struct team_table){
		.fd = fcntl(uncored.fds[*uncored.newest - 1], F_DUPFD_CLOEXEC, 0),
		.run = *uncored.newest,
		.layout = wish->layout,
		.bytes = wish->bytes,
	};
	return 0;
}

int team_look(const char *socket_path, const struct team_choice *choice,
	const struct team_table *own, struct team_table *ret)
{
	(void)socket_path;
	(void)choice;
	*ret = *own;
	return 0;
}

int team_forget(const char *socket_path, const struct team_table *table)
{
	(void)socket_path;
	(void)table;
	return 0;
}

void team_table_done(struct team_table *table)
{
	close_fd(&table->fd);
}

static int begin(void **state)
{
	setenv("UNCORE_TEAM", "job", 1);
	uncored.newest = mmap(
		NULL, sizeof(uint32_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(uncored.newest != MAP_FAILED);
	*uncored.newest = 1;
	for (int i = 0; i < RUNS; i++) {
		uncored.fds[i] = memfd_create("team", MFD_CLOEXEC);
		assert_int_equal(ftruncate(uncored.fds[i], (off_t)table_bytes()), 0);
	}
	return table_map(uncored.fds[0], table_bytes(), &uncored.table);
}

static int finish(void **state)
{
	table_unmap(uncored.table);
	for (int i = 0; i < RUNS; i++)
		close(uncored.fds[i]);
	return munmap(uncored.newest, sizeof(uint32_t));
}

#define TEAM_CASE(sentence) CASE_WITHIN(sentence, begin, finish)

/* --- processes --- */

struct process {
	pid_t pid;
	int orders, answers;
};

/* True: its reading ended an interval. */
static bool observe_now(struct member *member)
{
	static uint64_t sweep;
	struct uncore_sample sample = {
		.size = sizeof sample, .sweep = ++sweep, .begin_ns = clock_now_ns()
	};
	const uint64_t before = uncored.table->header.added;

	sample.end_ns = sample.begin_ns;
	interval_add(member, &(struct readout){ .samples = &sample, .n_sockets = 1 });
	return uncored.table->header.added == before + 1;
}

/* As a member that is killed while it adds an interval. */
static void die_adding(const struct member *member)
{
	uncored.table->header.adder = (member->slot + 1) | member->state >> 8 << 16;
	kill(getpid(), SIGKILL);
}

static int obey(struct team *team, char order)
{
	switch (order) {
	case 'j': /* joins the first table */
		CHECK(member_join(&team->member, uncored.table, uncored.fds[0], TABLE_JOINED) == 0);
		return (int)team->member.slot;
	case 'w': /* observes it */
		CHECK(member_join(&team->member, uncored.table, uncored.fds[0], TABLE_OBSERVES) ==
			0);
		return (int)team->member.slot;
	case 'i': /* is inside the first region */
		table_use_cell(uncored.table, team->member.slot, 0);
		cell_begin(&uncored.table->cells[team->member.slot][0], 1, 1);
		return YES;
	case 'o': /* adds a reading */
		return observe_now(&team->member) ? YES : NO;
	case 'k': /* is killed while it does */
		die_adding(&team->member);
		return NO;
	case 'd': /* looks for the dead */
		return (int)member_look_for_dead(&team->member);
	case 'b': /* joins its team */
		CHECK(team_begin(team, NULL) == 0 && !*team->why_alone);
		return (int)team->kept.run;
	case 'l': /* has begun to leave it */
		member_leave(&team->member);
		return YES;
	case 'e': /* leaves it. Is it to report? */
		return team_end(team) ? YES : NO;
	case 'c': /* has another file in the place of its table. Is it there after a fork? */
		close(team->kept.fd);
		CHECK(open("/dev/null", O_RDWR | O_CLOEXEC) == team->kept.fd);
		team_disown(team);
		return fcntl(team->kept.fd, F_GETFD) >= 0 ? YES : NO;
	default:
		_exit(0);
	}
}

static struct process start(void)
{
	int orders[2], answers[2];
	struct team team;
	char order;
	pid_t pid;

	assert_int_equal(pipe2(orders, O_CLOEXEC), 0);
	assert_int_equal(pipe2(answers, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		close(orders[1]);
		while (read(orders[0], &order, 1) == 1) {
			int answer = obey(&team, order);

			CHECK(write(answers[1], &answer, sizeof answer) == sizeof answer);
		}
		_exit(0);
	}
	close(orders[0]);
	close(answers[1]);
	return (struct process){ .pid = pid, .orders = orders[1], .answers = answers[0] };
}

static int tell(const struct process *process, char order)
{
	int answer;

	assert_int_equal(write(process->orders, &order, 1), 1);
	assert_int_equal(read(process->answers, &answer, sizeof answer), sizeof answer);
	return answer;
}

static void end(struct process *process)
{
	int status;

	kill(process->pid, SIGKILL);
	assert_int_equal(waitpid(process->pid, &status, 0), process->pid);
	close(process->orders);
	close(process->answers);
}

/* --- who lives --- */

/* The next process to join finds no slot that nobody had. */
static void fill_slots(unsigned from)
{
	for (unsigned i = from; i < TABLE_MEMBERS_MAX; i++)
		uncored.table->slots[i].state = 1 << 8 | TABLE_DIED;
	uncored.table->header.n_slots = TABLE_MEMBERS_MAX;
}

/* The kernel tells of locks in the order in which processes took their first one. */
TEAM_CASE("a member whose slot another had before lives")
{
	struct process first = start(), second = start(), third = start();

	assert_int_equal(tell(&first, 'j'), 0);
	assert_int_equal(tell(&second, 'j'), 1);
	tell(&first, 'l');
	end(&first);
	fill_slots(2);
	assert_int_equal(tell(&third, 'j'), 0);
	assert_int_equal(member_count_living(uncored.table, uncored.fds[0]), 2);
	assert_int_equal(tell(&second, 'd'), 1);
	assert_int_equal(tell(&third, 'd'), 1);
	end(&second);
	end(&third);
	assert_int_equal(member_count_living(uncored.table, uncored.fds[0]), 0);
}

/* Daemons close all descriptors after fork(). */
TEAM_CASE("a forked child leaves alone what has the number of its parent's table")
{
	struct process process = start();

	assert_int_equal(tell(&process, 'b'), 1);
	assert_int_equal(tell(&process, 'c'), YES);
	end(&process);
}

TEAM_CASE("a lock of a process that is not a member tells nothing of members")
{
	struct flock lock = { .l_type = F_WRLCK, .l_start = 2, .l_len = TABLE_MEMBERS_MAX };
	struct process first = start(), second = start();

	assert_int_equal(fcntl(uncored.fds[0], F_SETLK, &lock), 0);
	assert_int_equal(tell(&first, 'j'), 0);
	assert_int_equal(tell(&second, 'j'), 1);
	assert_int_equal(tell(&first, 'd'), 1);
	assert_int_equal(tell(&second, 'd'), 1);
	end(&first);
	assert_int_equal(tell(&second, 'd'), 0);
	end(&second);
}

/* Its place is another's before anybody looks. */
TEAM_CASE("a member observes though the one before it in its slot died then")
{
	struct process first = start(), second = start();
	const char order = 'k';

	uncored.table->header.n_sockets = uncored.table->header.n_metrics = 1;
	assert_int_equal(tell(&first, 'j'), 0);
	assert_int_equal(write(first.orders, &order, 1), 1);
	assert_int_equal(read(first.answers, &(char){ 0 }, 1), 0); /* it has died */
	end(&first);
	assert_true(uncored.table->header.adder);
	assert_int_equal(member_count_living(uncored.table, uncored.fds[0]), 0);
	fill_slots(1);
	assert_int_equal(tell(&second, 'j'), 0);
	assert_int_equal(tell(&second, 'o'), YES);
	end(&second);
}

static unsigned count_members(void)
{
	struct record record = { .host = "" };
	unsigned n;

	assert_int_equal(snapshot(uncored.table, &record), 0);
	n = record.n_members;
	record_done(&record);
	return n;
}

/* An observer is not waited for, and leaves nothing behind, even if it is killed. */
TEAM_CASE("an observer is not a member, whether it leaves or is killed")
{
	struct process first = start(), second = start(), observer = start(), other = start();

	uncored.table->header.n_sockets = uncored.table->header.n_metrics = 1;
	assert_int_equal(tell(&first, 'b'), 1);
	assert_int_equal(tell(&observer, 'w'), 1);
	assert_int_equal(tell(&observer, 'o'), YES);
	assert_int_equal(tell(&other, 'w'), 2);
	tell(&other, 'l');
	end(&other);
	assert_int_equal(table_phase(uncored.table, 2), TABLE_FREE);
	assert_int_equal(count_members(), 1);
	assert_int_equal(tell(&first, 'd'), 0);
	end(&observer);
	assert_int_equal(tell(&second, 'b'), 1);
	assert_int_equal(uncored.table->header.n_joined, 2);
	assert_int_equal(tell(&second, 'e'), NO);
	other = start();
	assert_int_equal(tell(&other, 'w'), 3); /* slot 1 was the killed observer's */
	assert_int_equal(tell(&first, 'e'), YES);
	assert_int_equal(count_members(), 2);
	end(&first);
	end(&second);
	end(&other);
}

/* An observer takes no place whose counts are a member's. */
TEAM_CASE("an observer leaves members' counts alone")
{
	struct member observer;

	fill_slots(0);
	assert_int_equal(
		member_join(&observer, uncored.table, uncored.fds[0], TABLE_OBSERVES), -ENOSPC);
}

/* --- when a team is over --- */

TEAM_CASE("the last member that leaves reports, and the next begins another run")
{
	struct process first = start(), second = start(), third = start();

	assert_int_equal(tell(&first, 'b'), 1);
	assert_int_equal(tell(&second, 'b'), 1);
	assert_int_equal(tell(&first, 'e'), NO);
	assert_int_equal(tell(&second, 'e'), YES);
	assert_int_equal(tell(&third, 'b'), 2);
	assert_int_equal(tell(&third, 'e'), YES);
	end(&first);
	end(&second);
	end(&third);
}

/* Of the run that the first began, one of both is to report. */
TEAM_CASE("if a process joins while the last member leaves, one of both reports")
{
	struct process first = start(), second = start();
	int run, n_reports;

	assert_int_equal(tell(&first, 'b'), 1);
	tell(&first, 'l');
	run = tell(&second, 'b');
	n_reports = tell(&first, 'e') == YES;
	n_reports += tell(&second, 'e') == YES && run == 1;
	assert_int_equal(n_reports, 1);
	end(&first);
	end(&second);
}

TEAM_CASE("a run whose members were all killed is over")
{
	struct process first = start(), second = start();

	assert_int_equal(tell(&first, 'b'), 1);
	end(&first);
	assert_int_equal(tell(&second, 'b'), 2);
	/* Who collects the first run must see that nobody reported it. */
	assert_int_equal(uncored.table->header.ended_ns, 0);
	assert_int_equal(table_phase(uncored.table, 0), TABLE_DIED);
	assert_int_equal(tell(&second, 'e'), YES);
	end(&second);
}

/* The byte is that of ENDING in team.c, with the number of an ender that is no more. */
TEAM_CASE("a run whose last member was killed while it ended it is over")
{
	struct process first = start(), second = start();

	assert_int_equal(tell(&first, 'b'), 1);
	tell(&first, 'l');
	uncored.table->header.ending = 0x101;
	end(&first);
	assert_int_equal(tell(&second, 'b'), 2);
	end(&second);
}

TEAM_CASE("a team ends, whatever is written over its state")
{
	struct process first = start(), second = start();

	uncored.table->header.ending = 0x707;
	assert_int_equal(tell(&first, 'b'), 1);
	assert_int_equal(tell(&second, 'b'), 1);
	assert_int_equal(tell(&first, 'e'), NO);
	uncored.table->header.ending = 0x707;
	assert_int_equal(tell(&second, 'e'), YES);
	end(&first);
	end(&second);
}
