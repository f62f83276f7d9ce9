/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A member of a table is killed at system calls of its life, and dies between instructions of a
 * change of a region. What the dead counted stays, and the next member goes on. With
 * UNCORE_TEST_SEEDS=8 a run takes all stops (tests/harness/stops.h).
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client/collect/snapshot.h"
#include "client/region/activity.h"
#include "client/region/cell.h"
#include "client/region/interval.h"
#include "client/region/meter.h"
#include "client/region/sums.h"
#include "common/clock.h"
#include "tests/harness/stops.h"
#include "tests/harness/traced.h"
#include "tests/unit/region/region-case.h"

enum { REGIONS = 2, CALL_STRIDE = 4, INSTRUCTION_STRIDE = 8 };

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

static struct table_cell *own_cell_of(struct member *member, unsigned place)
{
	return &member->table->cells[member->slot][place];
}

static void read_with(struct member *member, struct meter *meter)
{
	struct readout readout = { .n_sockets = 0 };

	CHECK(meter_read(meter, &readout) == 0);
	interval_add(member, &readout);
	readout_done(&readout);
}

static uint64_t edge_ns(const struct member *member)
{
	return interval_edge_ns(member->table, 0);
}

static void enter(struct member *member, struct meter *meter, unsigned region)
{
	read_with(member, meter);
	cell_begin(own_cell_of(member, region), clock_now_ns(), edge_ns(member));
}

static void leave(struct member *member, struct meter *meter, unsigned region)
{
	const uint64_t now_ns = clock_now_ns();

	read_with(member, meter);
	cell_end(own_cell_of(member, region), now_ns, now_ns, edge_ns(member));
}

static void pass(struct member *member, struct meter *meter, unsigned region)
{
	enter(member, meter, region);
	leave(member, meter, region);
}

static void use_cells(struct member *member)
{
	for (unsigned i = 0; i < REGIONS; i++)
		table_use_cell(member->table, member->slot, i);
}

static void come(struct member *member)
{
	CHECK(member_join(member, scene.table, scene.fd, TABLE_JOINED) == 0);
	use_cells(member);
}

static void go(struct member *member)
{
	member_leave(member);
	member_let_go(member);
	interval_done(member);
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

	come(&member);
	meter_init(&meter, scene.table);
	enter(&member, &meter, 0);
	kill(getpid(), SIGKILL);
}

/* Takes a reading for others, which ends what a member held that died. */
static void observe_dead(void)
{
	struct member member;
	struct meter meter;

	CHECK(member_join(&member, scene.table, scene.fd, TABLE_OBSERVES) == 0);
	meter_init(&meter, scene.table);
	member_look_for_dead(&member);
	read_with(&member, &meter);
	go(&member);
}

static pid_t start(void (*life)(void), bool traced)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		if (traced)
			traced_begin();
		life();
		_exit(0);
	}
	return pid;
}

/* False: it came to its end. */
static bool kill_at(pid_t pid, unsigned nth)
{
	const int status = traced_kill_at(pid, nth);

	assert_true(status == 0 || status == TRACED_KILLED);
	return status == TRACED_KILLED;
}

/* --- what holds then --- */

static struct sums sums_of(const struct table *table, unsigned place)
{
	static struct sums sums;

	memset(&sums, 0, sizeof sums);
	sums_read(&sums, &table->sums[place]);
	return sums;
}

static uint64_t all_of(const struct table *table, unsigned place)
{
	return sums_of(table, place).sockets[0].metrics[0].all;
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
	struct member member;
	struct meter meter;

	come(&member);
	meter_init(&meter, scene.table);
	assert_int_equal(member_look_for_dead(&member), 0);
	read_with(&member, &meter);
	assert_false(activity_is_unread(scene.table));
	for (unsigned i = 0; i < REGIONS; i++) {
		const uint64_t before = all_of(scene.table, i);

		pass(&member, &meter, i);
		assert_int_equal(all_of(scene.table, i), before + FAKE_STEP);
	}
	go(&member);
	meter_disown(&meter);
}

/* --- system calls --- */

/* Calls @kill, which tells whether it killed, at one stop after the other until there are no more.
 */
static void at_system_calls(bool (*kill)(unsigned nth))
{
	for (unsigned i = 0; i < stops_passes(CALL_STRIDE); i++) {
		unsigned nth = stops_first(CALL_STRIDE, i);

		while (kill(nth))
			nth += CALL_STRIDE;
		assert_true(nth > 40);
	}
}

static bool kill_member(unsigned nth)
{
	const uint64_t before = count_passages();
	const bool was_killed = kill_at(start(live, true), nth);
	const uint64_t after = count_passages();

	assert_true(after >= before);
	check_usable();
	assert_int_equal(count_passages(), after + REGIONS);
	return was_killed;
}

CASE("members may be killed at their system calls")
{
	begin();
	at_system_calls(kill_member);
	finish();
}

static void let_one_die(void)
{
	assert_true(waitpid(start(die_inside, false), NULL, 0) > 0);
}

static bool kill_successor(unsigned nth)
{
	let_one_die();
	member_count_living(scene.table, scene.fd);
	return kill_member(nth);
}

/* No slot is left that nobody had: each member comes after one that died inside a region. */
CASE("... also if each has the slot of a member that died")
{
	begin();
	for (unsigned i = 0; i < TABLE_MEMBERS_MAX; i++)
		scene.table->slots[i].state = 1 << 8 | TABLE_DIED;
	at_system_calls(kill_successor);
	finish();
}

/* Bytes count once: those that moved until the observer's reading, or none of them. */
static bool kill_observer(unsigned nth)
{
	const uint64_t before = all_of(scene.table, 0);
	uint64_t moved;
	bool was_killed;

	let_one_die();
	was_killed = kill_at(start(observe_dead, true), nth);
	moved = all_of(scene.table, 0) - before;
	assert_true(moved == FAKE_STEP || (was_killed && !moved));
	check_usable();
	return was_killed;
}

CASE("who reads for the dead may be killed, too")
{
	begin();
	at_system_calls(kill_observer);
	finish();
}

/* --- instructions --- */

/*
 * Elsewhere a compare-and-swap that is stepped through never succeeds, and sanitizers need too many
 * instructions.
 */
#if defined __x86_64__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__

/* The shares of all regions and of outside. */
static uint64_t shares_of(const struct table *table)
{
	uint64_t sum = sums_of(table, TABLE_OUTSIDE).sockets[0].metrics[0].share;

	for (unsigned i = 0; i < REGIONS; i++)
		sum += sums_of(table, i).sockets[0].metrics[0].share;
	return sum;
}

static volatile bool *is_over; /* shared */

enum { SWEEPS = 4, LATER = 100 };

/* So that to use a reading makes no system call. */
static void add_reading(struct member *member, uint64_t sweep)
{
	struct uncore_sample sample = {
		.size = sizeof sample,
		.n_values = 1,
		.generation = { 1, 1 },
		.sweep = sweep,
		.begin_ns = 1000 * sweep,
		.end_ns = 1000 * sweep,
		.values[0].count = sweep * FAKE_STEP,
	};

	interval_add(member, &(struct readout){ .samples = &sample, .n_sockets = 1 });
}

static void enter_at(struct member *member, uint64_t sweep, unsigned region)
{
	add_reading(member, sweep);
	cell_begin(own_cell_of(member, region), 1000 * sweep, 1000 * sweep);
}

static void leave_at(struct member *member, uint64_t sweep, unsigned region)
{
	add_reading(member, sweep);
	cell_end(own_cell_of(member, region), 1000 * sweep, 1000 * sweep, 1000 * sweep);
}

/* Region 0 is open from reading 1 to 4, region 1 from 2 to 3. */
static void change_regions(void)
{
	struct member member;

	CHECK(member_join(&member, scene.table, MEMBER_ALONE, TABLE_JOINED) == 0);
	use_cells(&member);
	raise(SIGSTOP);
	enter_at(&member, 1, 0);
	enter_at(&member, 2, 1);
	leave_at(&member, 3, 1);
	leave_at(&member, 4, 0);
	*is_over = true;
}

static void copy_interval(struct table_interval *to, const struct table_interval *from)
{
	memcpy(to, from, offsetof(struct table_interval, moved));
	to->moved[0] = from->moved[0];
	memcpy(&to->to, &from->to, offsetof(struct table_post, rows_ns));
	to->to.sockets[0] = from->to.sockets[0];
	memcpy(to->parts, from->parts, (REGIONS + 1) * sizeof *to->parts);
}

static void copy_place(struct table *to, unsigned place)
{
	const struct table_sums *sums = &scene.table->sums[place];

	to->cells[0][place] = scene.table->cells[0][place];
	to->seen[0][place] = scene.table->seen[0][place];
	memcpy(&to->sums[place], sums, offsetof(struct table_sums, sockets[1]));
}

/* The table as a member finds it that comes after the death of the other. */
static void copy_table(struct table *to)
{
	to->header = scene.table->header;
	to->slots[0] = scene.table->slots[0];
	to->slots[0].state = 1 << 8 | TABLE_DIED;
	memcpy(to->regions, scene.table->regions, REGIONS * sizeof *to->regions);
	for (int i = 0; i < TABLE_POSTS; i++)
		memcpy(&to->posts[i], &scene.table->posts[i],
			offsetof(struct table_post, sockets[1]));
	for (int i = 0; i < 2; i++)
		copy_interval(&to->intervals[i], &scene.table->intervals[i]);
	for (unsigned i = 0; i < REGIONS; i++)
		copy_place(to, i);
	copy_place(to, TABLE_OUTSIDE);
}

/*
 * What the dead held ends at the next reading. Then all that moved since the first reading is
 * shared out: if that reading was lost, since the next one.
 */
static void check_sums(struct member *member)
{
	const struct table *table = member->table;
	const uint64_t last = LATER + 2 * REGIONS;
	uint64_t shares;

	add_reading(member, LATER);
	for (unsigned i = 0; i < REGIONS; i++) {
		const uint64_t before = all_of(table, i);

		enter_at(member, LATER + 2 * i + 1, i);
		leave_at(member, LATER + 2 * i + 2, i);
		assert_int_equal(all_of(table, i), before + FAKE_STEP);
	}
	shares = shares_of(table);
	assert_int_equal(shares % FAKE_STEP, 0);
	assert_in_range(shares / FAKE_STEP, last - LATER, last - 1);
	assert_true(shares / FAKE_STEP == last - LATER || shares / FAKE_STEP >= last - SWEEPS);
	for (unsigned i = 0; i < REGIONS; i++) {
		const struct sums sums = sums_of(table, i);
		const struct table_sum *sum = &sums.sockets[0].metrics[0];

		assert_in_range(sum->share, sum->alone, sum->all);
		assert_int_equal(sum->all % FAKE_STEP, 0);
	}
}

/* @slot: of the member that comes; 0: of the one that died. */
static void check_copy(struct table *copy, unsigned slot)
{
	struct member member;

	copy_table(copy);
	assert_int_equal(member_join(&member, copy, MEMBER_ALONE, TABLE_JOINED), 0);
	assert_int_equal(member.slot, slot);
	use_cells(&member);
	check_sums(&member);
	copy->slots[slot] = (struct table_slot){ .state = 0 };
	for (unsigned i = 0; i < REGIONS; i++) {
		*own_cell_of(&member, i) = (struct table_cell){ .lock = 0 };
		copy->seen[slot][i] = (struct table_seen){ .n_left = 0 };
	}
	interval_done(&member);
}

CASE("sums are right between instructions of their changes")
{
	const unsigned first = stops_first(INSTRUCTION_STRIDE, 0),
		       n_passes = stops_passes(INSTRUCTION_STRIDE);
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
	pid = start(change_regions, true);
	assert_true(traced_stops(pid, &status));
	assert_int_equal(ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
	assert_true(traced_stops(pid, &status));
	for (; !*is_over; n++) {
		if ((n + INSTRUCTION_STRIDE - first) % INSTRUCTION_STRIDE < n_passes) {
			check_copy(fresh, 1);
			check_copy(used, 0);
		}
		assert_true(traced_step(pid));
	}
	traced_kill(pid);
	print_message("# %u instructions\n", n);
	assert_true(n > 1000);
	munmap((void *)is_over, sizeof *is_over);
	table_unmap(fresh);
	table_unmap(used);
	finish();
}

/* --- who is stopped --- */

static volatile uint64_t *wanted; /* shared: the sweep of the next reading; 0: it is added */

enum { STOP_STRIDE = 512 };

static void read_as_wanted(void)
{
	struct member member;

	CHECK(member_join(&member, scene.table, scene.fd, TABLE_JOINED) == 0);
	for (;;) {
		raise(SIGSTOP);
		add_reading(&member, *wanted);
		*wanted = 0;
	}
}

/* Lets the child go on until it waits for the next reading. */
static void await_reading(pid_t pid)
{
	int status;

	assert_int_equal(ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
	assert_true(traced_stops(pid, &status));
	assert_int_equal(WSTOPSIG(status), SIGSTOP);
}

/* The child stops after @n instructions of a reading, and an earlier one is added before it goes
 * on. False: its reading has fewer. */
static bool stop_reading(pid_t pid, struct member *other, unsigned n, uint64_t sweep)
{
	*wanted = sweep;
	for (; n && *wanted; n--)
		assert_true(traced_step(pid));
	add_reading(other, sweep - 1);
	await_reading(pid);
	assert_int_equal(shares_of(scene.table), (sweep - 1) * FAKE_STEP);
	return !n;
}

CASE("a member may be stopped anywhere while it adds a reading, which is not lost if others add "
     "theirs")
{
	unsigned n = stops_first(STOP_STRIDE, 0);
	struct member other;
	uint64_t sweep = 3;
	int status;
	pid_t pid;

	begin();
	wanted = mmap(
		NULL, sizeof *wanted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(wanted != MAP_FAILED);
	assert_int_equal(member_join(&other, scene.table, scene.fd, TABLE_JOINED), 0);
	add_reading(&other, 1);
	pid = start(read_as_wanted, true);
	assert_true(traced_stops(pid, &status));
	await_reading(pid);
	while (stop_reading(pid, &other, n, sweep)) {
		n += STOP_STRIDE;
		sweep += 2;
	}
	traced_kill(pid);
	print_message("# %u instructions\n", n);
	assert_true(n > 1000);
	munmap((void *)wanted, sizeof *wanted);
	go(&other);
	finish();
}
#endif
