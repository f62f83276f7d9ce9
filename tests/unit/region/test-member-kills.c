/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A member of a table is killed at each system call of its life, and dies after each instruction of
 * a change of a region. What the dead counted stays, and the next member goes on.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/collect/snapshot.h"
#include "client/region/cell.h"
#include "client/region/stretch.h"
#include "client/region/sums.h"
#include "client/region/word.h"
#include "common/clock.h"
#include "tests/unit/region/region-case.h"

enum { REGIONS = 2, RECORDS = 8, SYSCALL_STOP = SIGTRAP | 0x80 };

static struct {
	struct fake_daemon daemon;
	struct table *table;
	int fd;
} scene;

static struct table *new_table(int *ret_fd)
{
	struct table *table;

	*ret_fd = memfd_create("team", MFD_CLOEXEC);
	assert_int_equal(ftruncate(*ret_fd, (off_t)table_bytes()), 0);
	assert_int_equal(table_map(*ret_fd, table_bytes(), &table), 0);
	for (int i = 0; i < REGIONS; i++)
		assert_int_equal(table_find_or_add(table, (char[]){ 'a' + (char)i, '\0' }), i);
	return table;
}

static void begin(void)
{
	start_with(&scene.daemon, NULL);
	scene.table = new_table(&scene.fd);
}

static void finish(void)
{
	table_unmap(scene.table);
	close(scene.fd);
	stop(&scene.daemon);
}

/* --- a life --- */

static void enter(struct member *member, struct reading *reading, unsigned region)
{
	cell_begin(&member->table->cells[member->slot][region], 1);
	CHECK(stretch_enter(member, region, clock_now_ns(), reading) == 0);
	stretch_advance_others(member, region, reading);
}

static void leave(struct member *member, struct reading *reading, unsigned region)
{
	cell_end(&member->table->cells[member->slot][region], 1, 2);
	CHECK(stretch_leave(member, region, clock_now_ns(), reading) == 0);
	stretch_advance_others(member, region, reading);
}

static void pass(struct member *member, struct meter *meter, unsigned region)
{
	struct reading before = { .meter = meter }, after = { .meter = meter };

	enter(member, &before, region);
	leave(member, &after, region);
	reading_done(&before);
	reading_done(&after);
}

static void come(struct member *member)
{
	CHECK(member_join(member, scene.table, scene.fd) == 0);
	stretch_settle_former(member);
}

static void go(struct member *member)
{
	member_leave(member);
	member_let_go(member);
}

static void live(void)
{
	struct member member;
	struct meter meter;

	come(&member);
	meter_init(&meter, scene.table);
	for (unsigned i = 0; i < REGIONS; i++)
		pass(&member, &meter, i);
	go(&member);
}

static void die_inside(void)
{
	struct member member;
	struct meter meter;
	struct reading reading = { .meter = &meter };

	come(&member);
	meter_init(&meter, scene.table);
	enter(&member, &reading, 0);
	kill(getpid(), SIGKILL);
}

/* Takes a reading for others: the region of a member that died is closed by it. */
static void observe_dead(void)
{
	struct member member;
	struct meter meter;
	struct reading reading = { .meter = &meter };

	CHECK(member_observe(&member, scene.table, scene.fd) == 0);
	meter_init(&meter, scene.table);
	member_look_for_dead(&member);
	CHECK(reading_take(&reading) == 0);
	stretch_settle_dead(&member, &reading);
	stretch_advance_others(&member, STRETCH_ALL, &reading);
	go(&member);
}

static pid_t start(void (*life)(void), bool traced)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		if (traced) {
			CHECK(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
			raise(SIGSTOP);
		}
		life();
		_exit(0);
	}
	return pid;
}

/* Kills it before or after a system call, the @nth of these stops. False: it came to its end. */
static bool kill_at(pid_t pid, unsigned nth)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(ptrace(PTRACE_SETOPTIONS, pid, NULL,
				 (void *)(long)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)),
		0);
	for (unsigned n = 0; n < nth; n++) {
		assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (WIFEXITED(status)) {
			assert_int_equal(WEXITSTATUS(status), 0);
			return false;
		}
		assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SYSCALL_STOP);
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return true;
}

/* --- what holds then --- */

static void copy_record(const struct table *table, unsigned region, struct table_record *ret)
{
	memset(ret, 0, sizeof *ret);
	sums_copy(ret, &table->records[word_of(table, region).record]);
}

/* A record has one owner: a region, or a member that may write it. */
static void check_owners(const struct table *table, const struct member *member)
{
	const unsigned first = word_of(table, 0).record, second = word_of(table, 1).record,
		       spare = table->slots[member->slot].spare;

	assert_true(first != second || !first);
	assert_true(!spare || (spare != first && spare != second));
}

static uint64_t count_passages(void)
{
	struct record record = { .host = "" };
	uint64_t n = 0;

	assert_int_equal(snapshot(scene.table, &record), 0);
	for (uint32_t i = 0; i < record.n_regions; i++)
		n += record.regions[i].n_passages;
	record_done(&record);
	return n;
}

/* A process that comes then finds every region closed, and measures. */
static void check_usable(void)
{
	static struct table_record before, after;
	struct member member;
	struct meter meter;

	come(&member);
	meter_init(&meter, scene.table);
	assert_int_equal(member_look_for_dead(&member), 0);
	stretch_settle_dead(&member, NULL);
	for (unsigned i = 0; i < REGIONS; i++) {
		assert_int_equal(word_of(scene.table, i).holder, 0);
		copy_record(scene.table, i, &before);
		pass(&member, &meter, i);
		assert_int_equal(word_of(scene.table, i).holder, 0);
		copy_record(scene.table, i, &after);
		assert_int_equal(after.sockets[0].sums[0].count,
			before.sockets[0].sums[0].count + FAKE_STEP);
	}
	check_owners(scene.table, &member);
	go(&member);
	member_done(&member);
	meter_disown(&meter);
}

/* --- system calls --- */

static void at_system_calls(bool after_another)
{
	uint64_t n_passages = 0, now;
	bool was_killed = true;

	for (unsigned nth = 1; was_killed; nth++) {
		if (after_another) {
			assert_int_equal(waitpid(start(die_inside, false), NULL, 0) > 0, 1);
			member_count_living(scene.table, scene.fd);
		}
		was_killed = kill_at(start(live, true), nth);
		now = count_passages();
		assert_true(now >= n_passages);
		check_usable();
		n_passages = now + REGIONS;
		assert_int_equal(count_passages(), n_passages);
	}
	assert_true(n_passages > 10);
}

CASE("members may be killed at each system call")
{
	begin();
	at_system_calls(false);
	finish();
}

/* No slot is left that nobody had: each member comes after one that died inside a region. */
CASE("... also if each has the slot of a member that died")
{
	begin();
	for (unsigned i = 0; i < TABLE_MEMBERS_MAX; i++)
		scene.table->slots[i].state = 1 << 8 | TABLE_DIED;
	at_system_calls(true);
	finish();
}

/* Bytes count once: those that moved until the observer's reading, or none of them. */
CASE("who reads for the dead may be killed, too")
{
	static struct table_record before, after;
	bool was_killed = true;

	begin();
	for (unsigned nth = 1; was_killed; nth++) {
		copy_record(scene.table, 0, &before);
		assert_int_equal(waitpid(start(die_inside, false), NULL, 0) > 0, 1);
		was_killed = kill_at(start(observe_dead, true), nth);
		copy_record(scene.table, 0, &after);
		if (!was_killed)
			assert_int_equal(word_of(scene.table, 0).holder, 0);
		assert_int_equal(after.sockets[0].sums[0].count - before.sockets[0].sums[0].count,
			word_of(scene.table, 0).holder ? 0 : FAKE_STEP);
		check_usable();
	}
	finish();
}

/* --- instructions --- */

/*
 * Elsewhere a compare-and-swap that is stepped through never succeeds, and sanitizers need too many
 * instructions.
 */
#if defined __x86_64__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__

static volatile bool *is_over; /* shared */

/* A reading that was taken, so that to use it makes no system call. */
static struct reading reading_of(uint64_t sweep)
{
	struct uncore_sample *sample = calloc(1, sizeof *sample);

	CHECK(sample);
	*sample = (struct uncore_sample){
		.size = sizeof *sample,
		.n_values = 1,
		.generation = { 1, 1 },
		.sweep = sweep,
		.begin_ns = sweep,
		.end_ns = sweep,
		.values[0].count = sweep * FAKE_STEP,
	};
	return (struct reading){ .readout = { .samples = sample, .n_sockets = 1 },
		.is_taken = true };
}

/* Region 0 is open from reading 1 to 4, region 1 from 2 to 3. */
static void change_regions(void)
{
	struct reading readings[] = { reading_of(1), reading_of(2), reading_of(3), reading_of(4) };
	struct member member;

	CHECK(member_join(&member, scene.table, MEMBER_ALONE) == 0);
	raise(SIGSTOP);
	enter(&member, &readings[0], 0);
	enter(&member, &readings[1], 1);
	leave(&member, &readings[2], 1);
	leave(&member, &readings[3], 0);
	*is_over = true;
}

/* Region 0 is read in a window of two stretches, so that it stays open. */
static void change_windows(void)
{
	struct reading readings[] = { reading_of(1), reading_of(2), reading_of(3), reading_of(4),
		reading_of(5), reading_of(6) };
	struct member member;

	CHECK(member_join(&member, scene.table, MEMBER_ALONE) == 0);
	scene.table->header.overhead = 1;
	scene.table->header.site_gap_ns = 1000000000000000;
	scene.table->regions[0].usual_ns = 1;
	raise(SIGSTOP);
	for (unsigned i = 0; i < ARRAY_SIZE(readings); i += 2) {
		enter(&member, &readings[i], 0);
		scene.table->header.wants_pair = i == 2;
		leave(&member, &readings[i + 1], 0);
	}
	*is_over = true;
}

/* The table as a member finds it that comes after the death of the other. */
static void copy_table(struct table *to)
{
	to->header = scene.table->header;
	to->slots[0] = scene.table->slots[0];
	to->slots[0].state = 1 << 8 | TABLE_DIED;
	memcpy(to->regions, scene.table->regions, REGIONS * sizeof *to->regions);
	memcpy(to->cells[0], scene.table->cells[0], REGIONS * sizeof *to->cells[0]);
	for (int i = 1; i < RECORDS; i++)
		sums_copy(&to->records[i], &scene.table->records[i]);
}

static void check_region(struct member *member, unsigned region)
{
	static struct table_record before, after;
	struct reading first = reading_of(100), second = reading_of(101);
	const uint64_t most = region ? 1 : 3;

	assert_int_equal(word_of(member->table, region).holder, 0);
	copy_record(member->table, region, &before);
	assert_int_equal(before.sockets[0].sums[0].count % FAKE_STEP, 0);
	assert_true(before.sockets[0].sums[0].count <= most * FAKE_STEP);
	enter(member, &first, region);
	leave(member, &second, region);
	copy_record(member->table, region, &after);
	assert_int_equal(
		after.sockets[0].sums[0].count, before.sockets[0].sums[0].count + FAKE_STEP);
	reading_done(&first);
	reading_done(&second);
}

/* A window that was left may end at any reading, with all that moved since. */
static void check_window(struct member *member, unsigned region)
{
	static struct table_record before, after;
	struct reading first = reading_of(100), second = reading_of(101);
	uint64_t moved;

	copy_record(member->table, region, &before);
	enter(member, &first, region);
	leave(member, &second, region);
	copy_record(member->table, region, &after);
	moved = after.sockets[0].sums[0].count - before.sockets[0].sums[0].count;
	assert_int_equal(before.sockets[0].sums[0].count % FAKE_STEP, 0);
	assert_int_equal(moved % FAKE_STEP, 0);
	assert_true(moved <= 101 * FAKE_STEP);
	reading_done(&first);
	reading_done(&second);
}

/* @slot: of the member that comes; 0: of the one that died. */
static void check_copy(
	struct table *copy, unsigned slot, void (*check)(struct member *member, unsigned region))
{
	struct member member;

	copy_table(copy);
	assert_int_equal(member_join(&member, copy, MEMBER_ALONE), 0);
	assert_int_equal(member.slot, slot);
	stretch_settle_former(&member);
	stretch_settle_dead(&member, NULL);
	for (unsigned i = 0; i < REGIONS; i++)
		check(&member, i);
	check_owners(copy, &member);
	copy->slots[slot] = (struct table_slot){ .state = 0 };
	member_done(&member);
}

__attribute__((unused)) static void at_each_instruction(
	void (*life)(void), void (*check)(struct member *member, unsigned region))
{
	struct table *fresh, *used;
	unsigned n = 0;
	pid_t pid;
	int status;

	begin();
	fresh = table_new();
	used = table_new();
	assert_true(fresh && used);
	for (unsigned i = 1; i < TABLE_MEMBERS_MAX; i++)
		used->slots[i].state = 1 << 8 | TABLE_DIED;
	is_over = mmap(
		NULL, sizeof *is_over, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(is_over != MAP_FAILED);
	pid = start(life, true);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	for (; !*is_over; n++) {
		check_copy(fresh, 1, check);
		check_copy(used, 0, check);
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSTOPPED(status));
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	print_message("# %u instructions\n", n);
	assert_true(n > 1000);
	munmap((void *)is_over, sizeof *is_over);
	table_unmap(fresh);
	table_unmap(used);
	finish();
}

CASE("a region is right after each instruction of its changes")
{
	at_each_instruction(change_regions, check_region);
}

CASE("... also if it is read in windows")
{
	at_each_instruction(change_windows, check_window);
}
#endif
