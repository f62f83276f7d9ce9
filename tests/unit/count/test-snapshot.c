/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Snapshots of real counters of the kernel, beside read(2) of the same counters: page faults, which
 * pinned software events count on one CPU. Needs root, and a kernel with bpf(2). Suite counts of
 * the x86 guest has uncore PMUs in their place: their types, in decimal, behind two events, in
 * hexadecimal. There are more than FLEXIBLE of them, and they count without a break.
 */
#include "daemon/count/snapshot.h"
#include "tests/harness/test.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/macro.h"

enum { BOXES = 70, SWEEPS = 10000, OFF = 3, TRANSACTIONS = 5, FLEXIBLE = 6 };

static unsigned n_boxes = BOXES;
static struct plan_box plans[BOXES];
static struct box by_read[BOXES], before[BOXES], by_turns[BOXES];
static struct snapshot snapshot;

/* --- the counters --- */

static bool pin_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof set, &set) == 0;
}

static void make_plans(void)
{
	static const uint64_t counts[] = { PERF_COUNT_SW_PAGE_FAULTS, PERF_COUNT_SW_PAGE_FAULTS_MIN,
		PERF_COUNT_SW_PAGE_FAULTS_MAJ };

	for (unsigned i = 0; i < n_boxes; i++) {
		plans[i] = (struct plan_box){ .type = PERF_TYPE_SOFTWARE, .n_events = 1 + i % 3 };
		for (unsigned k = 0; k < plans[i].n_events; k++)
			plans[i].events[k].code.config = counts[k];
	}
}

static void make_uncore_plans(unsigned n_words, char *words[])
{
	enum { EVENTS = 2 };

	for (n_boxes = 0; n_boxes < n_words - EVENTS && n_boxes < BOXES; n_boxes++) {
		struct plan_box *plan = &plans[n_boxes];

		plan->type = (unsigned)strtoul(words[EVENTS + n_boxes], NULL, 10);
		plan->n_events = 1 + n_boxes % EVENTS;
		for (unsigned k = 0; k < plan->n_events; k++)
			plan->events[k].code.config = strtoull(words[k], NULL, 16);
	}
}

/* The boxes of both arrays share their counters. */
static bool open_boxes(struct fault *why)
{
	const struct rlimit files = { 4096, 4096 };

	setrlimit(RLIMIT_NOFILE, &files);
	for (unsigned i = 0; i < n_boxes; i++) {
		int r;

		strcpy(plans[i].pmu, i == TRANSACTIONS ? "hv_24x7" : "faults");
		r = box_open(&by_read[i], &plans[i], &perf_calls);
		if (r < 0)
			return fault_set(why, false, "perf_event_open(2): %s", strerror(-r));
		by_turns[i] = by_read[i];
	}
	by_turns[FLEXIBLE].mode = BOX_FLEXIBLE;
	return snapshot_load(&snapshot, by_turns, n_boxes, why) >= 0 &&
	       snapshot_use(&snapshot, why) >= 0;
}

static void fault_in(unsigned n)
{
	const size_t page_bytes = (size_t)getpagesize(), size_bytes = (n + 1) * page_bytes;
	volatile char *memory =
		mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(memory != MAP_FAILED);
	for (unsigned i = 0; i < n; i++)
		memory[i * page_bytes] = 1;
	munmap((void *)memory, size_bytes);
}

/* --- sweeps --- */

static bool has_part(unsigned i)
{
	return i != TRANSACTIONS && i != FLEXIBLE;
}

static void read_boxes(struct box boxes[], uint64_t now_ns)
{
	for (unsigned i = 0; i < n_boxes; i++)
		assert_false(box_read(&boxes[i], false, now_ns));
}

/* The program reads all boxes that have a part, except @off. */
static void take_boxes(uint64_t now_ns, unsigned off)
{
	assert_true(snapshot_take(&snapshot));
	for (unsigned i = 0; i < n_boxes; i++)
		assert_int_equal(box_read(&by_turns[i], true, now_ns), has_part(i) && i != off);
}

/* Is a box of the turns between two reads of the same counters? True: these two are equal. */
static bool check_between(unsigned i)
{
	const struct box *box = &by_turns[i];
	bool is_tight = true;

	assert_int_equal(box->error, by_read[i].error);
	assert_int_equal(box->quality, by_read[i].quality);
	for (unsigned k = 0; k < box->plan->n_events; k++) {
		const struct box_event *low = &before[i].events[k], *high = &by_read[i].events[k];
		const struct box_event *event = &box->events[k];

		assert_in_range(event->count, low->count, high->count);
		assert_in_range(event->raw, low->raw, high->raw);
		assert_in_range(event->enabled_ns, low->enabled_ns, high->enabled_ns);
		assert_in_range(event->running_ns, low->running_ns, high->running_ns);
		is_tight &= low->count == high->count;
	}
	return is_tight;
}

CASE("both methods count the same in turns")
{
	unsigned n_tight = 0;

	assert_true(pin_to(0));
	for (uint64_t n = 1; n <= SWEEPS; n++) {
		snapshot.events_per_call = 1 + n % 199;
		fault_in(n % 4);
		read_boxes(by_read, 3 * n);
		memcpy(before, by_read, sizeof before);
		if (n % 2)
			take_boxes(3 * n + 1, n_boxes);
		else
			read_boxes(by_turns, 3 * n + 1);
		read_boxes(by_read, 3 * n + 2);
		for (unsigned i = 0; i < n_boxes; i++)
			n_tight += check_between(i);
	}
	assert_true(n_tight > 0);
	assert_true(by_turns[0].events[0].count >= SWEEPS); /* 0 to 3 faults for each */
}

/* The program fails for each event there, and zeroes its values. */
CASE("on another CPU each box takes a read(2)")
{
	if (!pin_to(1))
		skip();
	for (uint64_t n = 4 * SWEEPS; n < 4 * SWEEPS + 100; n++) {
		read_boxes(by_read, n);
		memcpy(before, by_read, sizeof before);
		assert_true(snapshot_take(&snapshot));
		for (unsigned i = 0; i < n_boxes; i++)
			assert_false(box_read(&by_turns[i], true, n));
		read_boxes(by_read, n);
		for (unsigned i = 0; i < n_boxes; i++)
			check_between(i);
	}
	assert_int_not_equal(snapshot.readings[0].error, 0);
	assert_int_equal(snapshot.readings[0].enabled_ns, 0);
}

/* It stands still, so both methods must find exactly the same. */
CASE("a box that is off takes a read(2)")
{
	int leader_fd = by_read[OFF].fds[0];

	assert_true(pin_to(0));
	assert_int_equal(ioctl(leader_fd, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP), 0);
	for (uint64_t n = 5 * SWEEPS; n < 5 * SWEEPS + 100; n++) {
		read_boxes(by_read, n * 1000000);
		take_boxes(n * 1000000, OFF);
		assert_memory_equal(by_read[OFF].events, by_turns[OFF].events,
			plans[OFF].n_events * sizeof *by_read[OFF].events);
		assert_int_equal(by_read[OFF].quality, by_turns[OFF].quality);
	}
	assert_int_equal(ioctl(leader_fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP), 0);
}

/* --- the program --- */

CASE("without the secret the program does nothing")
{
	struct snapshot stranger = snapshot;
	struct box_reading reading;

	assert_true(pin_to(0));
	assert_true(snapshot_take(&snapshot));
	reading = snapshot.readings[0];
	stranger.secret ^= 1;
	fault_in(1);
	assert_false(snapshot_take(&stranger));
	assert_memory_equal(&reading, &snapshot.readings[0], sizeof reading);
	assert_true(snapshot_take(&snapshot));
	assert_true(reading.count < snapshot.readings[0].count);
}

CASE("nobody can write the readings")
{
	assert_int_equal(
		mprotect((void *)snapshot.readings, (size_t)getpagesize(), PROT_READ | PROT_WRITE),
		-1);
	assert_int_equal(errno, EACCES);
}

CASE("boxes off their PMU and of transactions have no part")
{
	for (unsigned i = 0; i < n_boxes; i++)
		assert_int_equal(by_turns[i].reading != NULL, has_part(i));
}

CASE("without a pinned box nothing is loaded")
{
	struct box flexible = by_read[0];
	struct snapshot none = {};
	struct fault why;

	flexible.mode = BOX_FLEXIBLE;
	assert_int_equal(snapshot_load(&none, &flexible, 1, &why), -ENODATA);
	assert_string_equal(why.text, "No box of this socket is pinned to its counters.");
	assert_false(snapshot_take(&none));
}

static int close_boxes(void **state)
{
	snapshot_done(&snapshot);
	for (unsigned i = 0; i < n_boxes; i++)
		box_close(&by_read[i]);
	return 0;
}

int main(int argc, char *argv[])
{
	struct fault why;

	if (argc > 1)
		make_uncore_plans((unsigned)argc - 1, argv + 1);
	else
		make_plans();
	if (!open_boxes(&why)) {
		printf("1..0 # SKIP needs root, CPU 0 and bpf(2): %s\n", why.text);
		return 0;
	}
	return run_cases(NULL, close_boxes);
}
