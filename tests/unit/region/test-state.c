/* SPDX-License-Identifier: BSD-3-Clause */
/* States of processes: what moved while none, some or all of them were in one. */
#include <sys/mman.h>

#include "client/region/state.h"
#include "tests/harness/traced.h"
#include "tests/unit/region/region-case.h"

/* Each change of class takes a reading, however slow it is. */
static void run(void (*child)(struct fake_daemon *))
{
	setenv("UNCORE_OVERHEAD", "0", 1);
	run_with(NULL, child);
	unsetenv("UNCORE_OVERHEAD");
}

static void set(const char *name, int state)
{
	CHECK(uncore_state_set(name, state) == 0);
}

static void check_row(struct json_object *report, const char *name, uint64_t bytes)
{
	struct json_object *row = find_region(report, name);

	if (bytes_of(row) != bytes)
		fprintf(stderr, "%s: %lu instead of %lu bytes\n", name, bytes_of(row), bytes);
	CHECK(bytes_of(row) == bytes);
}

/* The fake daemon counts one step at each reading, and each change of the only process takes one.
 */
static void one_process(struct fake_daemon *daemon)
{
	struct json_object *report;

	CHECK(uncore_state_set("", UNCORE_STATE_ON) == -EINVAL);
	CHECK(uncore_state_set("a name of more than fifty-eight bytes, which has no room for ends",
		      UNCORE_STATE_ON) == -EINVAL);
	CHECK(uncore_state_set("MPI", 3) == -EINVAL);
	set("MPI", UNCORE_STATE_OFF);
	set("MPI", UNCORE_STATE_ON);
	set("MPI", UNCORE_STATE_ON); /* another thread */
	set("MPI", UNCORE_STATE_OFF);
	set("MPI", UNCORE_STATE_OFF);
	set("MPI", UNCORE_STATE_ON);
	set("MPI", UNCORE_STATE_LEFT);
	report = take_report(daemon);
	check_row(report, "MPI/none", 2 * FAKE_STEP);
	check_row(report, "MPI/any", 2 * FAKE_STEP);
	check_row(report, "MPI/all", 2 * FAKE_STEP);
	check_row(report, "MPI/some", 0);
	CHECK(FIND(find_region(report, "MPI/some"), "sockets", "0", "metrics", "itom", "absent"));
	CHECK(number(FIND(find_region(report, "MPI/any"), "count")) == 2);
	json_object_put(report);
}

CASE("one process is in a state or not")
{
	run(one_process);
}

/* Each reading is one step: at the begin of the state, of the region, and at their ends. */
static void beside_a_region(struct fake_daemon *daemon)
{
	struct json_object *report, *region;

	set("MPI", UNCORE_STATE_ON);
	CHECK(uncore_region_begin("solve") == 0);
	set("MPI", UNCORE_STATE_OFF);
	CHECK(uncore_region_end("solve") == 0);
	set("MPI", UNCORE_STATE_LEFT);
	report = take_report(daemon);
	region = find_region(report, "solve");
	CHECK(number(FIND(region, "shared_ns")) == 0);
	CHECK(number(FIND(region, "sockets", "0", "metrics", "dram.read", "alone")) ==
		bytes_of(region));
	CHECK(bytes_of(region) == 2 * FAKE_STEP);
	check_row(report, "MPI/all", 2 * FAKE_STEP);
	check_row(report, "MPI/none", 2 * FAKE_STEP);
	json_object_put(report);
}

CASE("a region is alone whatever the states are")
{
	run(beside_a_region);
}

static void many(struct fake_daemon *daemon)
{
	char name[] = "state 0";

	for (int i = 0; i < 8; i++) {
		name[sizeof name - 2] = (char)('0' + i);
		set(name, UNCORE_STATE_ON);
	}
	CHECK(uncore_state_set("one more", UNCORE_STATE_ON) == -ENOSPC);
	set(name, UNCORE_STATE_LEFT);
	set(name, UNCORE_STATE_LEFT);
	json_object_put(take_report(daemon));
}

CASE("the number of states of a process is bounded")
{
	run(many);
}

/* --- members of a team --- */

enum { MEMBERS = 3 };

static struct table *table;

static void make_table(void)
{
	const int fd = memfd_create("team", MFD_CLOEXEC);

	assert_int_equal(ftruncate(fd, (off_t)table_bytes()), 0);
	assert_int_equal(table_map(fd, table_bytes(), &table), 0);
	close(fd);
	*state_at(table, 0) = (struct state){ .first = 1, .part = 2 };
	table->header.n_slots = MEMBERS;
	for (int i = 0; i < MEMBERS; i++)
		table->slots[i].state = TABLE_JOINED;
}

static bool turn(unsigned slot, int before, int now, uint64_t now_ns)
{
	struct state_turn turn = { .state = state_at(table, 0),
		.part = 1,
		.before = before,
		.now = now,
		.now_ns = now_ns,
		.left_ns = now_ns,
		.came_ns = now_ns };

	const bool is_change = state_turns_class(&turn);

	for (unsigned place = 0; place < STATE_ROWS; place++)
		table_use_cell(table, slot, place);
	state_turn(table->cells[slot], &turn);
	return is_change;
}

static uint64_t counts_in(const struct table *of)
{
	return state_at(of, 0)->word % STATE_CHANGE;
}

static enum state_class class_now(void)
{
	return state_class(counts_in(table));
}

static void check_times(uint64_t now_ns, const uint64_t want_ns[STATE_ROWS])
{
	for (int i = 0; i < STATE_ROWS; i++)
		assert_int_equal(state_time_ns(state_at(table, 0), i, now_ns), want_ns[i]);
}

CASE("a change of class is seen by who made it, and has its time")
{
	make_table();
	assert_true(turn(0, UNCORE_STATE_LEFT, UNCORE_STATE_OFF, 100));
	assert_false(turn(1, UNCORE_STATE_LEFT, UNCORE_STATE_OFF, 110));
	assert_true(turn(0, UNCORE_STATE_OFF, UNCORE_STATE_ON, 120));
	assert_int_equal(class_now(), STATE_SOME);
	assert_true(turn(1, UNCORE_STATE_OFF, UNCORE_STATE_ON, 140));
	assert_int_equal(class_now(), STATE_ALL);
	assert_false(turn(1, UNCORE_STATE_ON, UNCORE_STATE_LEFT, 150));
	check_times(180, (const uint64_t[]){ 60, 20, 20, 40 });
	assert_true(turn(0, UNCORE_STATE_ON, UNCORE_STATE_LEFT, 200));
	assert_int_equal(class_now(), STATE_NOBODY);
	check_times(1000, (const uint64_t[]){ 80, 20, 20, 60 });
	assert_int_equal(table->cells[0][0].time_ns, 80);
	table_unmap(table);
}

/* Elsewhere an atomic addition that is stepped through never ends, and sanitizers need too many
 * instructions. */
#if defined __x86_64__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__

/* One process comes and goes, another one has come, and a third one dies. */
static void come_and_go(void)
{
	traced_begin();
	turn(0, UNCORE_STATE_LEFT, UNCORE_STATE_ON, 20);
	turn(0, UNCORE_STATE_ON, UNCORE_STATE_OFF, 30);
	turn(0, UNCORE_STATE_OFF, UNCORE_STATE_LEFT, 40);
	_exit(0);
}

/* The first member dies now, on a copy of what a count looks at. */
static void check_death(struct table *copy)
{
	copy->header = table->header;
	for (int i = 0; i < MEMBERS; i++) {
		copy->slots[i] = table->slots[i];
		memcpy(copy->cells[i], table->cells[i], STATE_ROWS * sizeof *copy->cells[i]);
	}
	*state_at(copy, 0) = *state_at(table, 0);
	copy->slots[0].state = TABLE_DIED;
	state_recount_all(copy);
	assert_int_equal(counts_in(copy), STATE_PART + STATE_IN);
}

CASE("who dies at any instruction of a change counts no more")
{
	struct table *copy = table_new();
	unsigned n = 1;
	int status;
	pid_t pid;

	make_table();
	turn(1, UNCORE_STATE_LEFT, UNCORE_STATE_ON, 10);
	pid = fork();
	if (pid == 0)
		come_and_go();
	assert_true(traced_stops(pid, &status));
	check_death(copy);
	for (; traced_step(pid); n++)
		check_death(copy);
	assert_true(n > 200);
	check_death(copy);
	table_unmap(copy);
	table_unmap(table);
}
#endif

/* Its lock is odd, and may stay so for long: it is stopped. */
CASE("a count waits for no member that changes")
{
	make_table();
	turn(0, UNCORE_STATE_LEFT, UNCORE_STATE_ON, 10);
	turn(1, UNCORE_STATE_LEFT, UNCORE_STATE_ON, 10);
	table->slots[0].state = TABLE_DIED;
	table->cells[1][1].lock++;
	state_recount_all(table);
	assert_int_equal(counts_in(table), 2 * (STATE_PART + STATE_IN));
	table->cells[1][1].lock++;
	state_recount_all(table);
	assert_int_equal(counts_in(table), STATE_PART + STATE_IN);
	table_unmap(table);
}

static bool is_in_memory(const void *at)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	unsigned char is;

	assert_int_equal(mincore((void *)((uintptr_t)at / page * page), 1, &is), 0);
	return is & 1;
}

CASE("a count gives no memory to cells that were never used")
{
	enum { FAR = 64 }; /* its cells are in another page, also of huge ones */

	make_table();
	table->header.n_slots = FAR + 1;
	table->slots[FAR].state = TABLE_JOINED;
	turn(0, UNCORE_STATE_LEFT, UNCORE_STATE_ON, 10);
	table->slots[0].state = TABLE_DIED;
	state_recount_all(table);
	assert_int_equal(counts_in(table), 0);
	assert_true(is_in_memory(table->cells[0]));
	assert_false(is_in_memory(table->cells[FAR]));
	table_unmap(table);
}
