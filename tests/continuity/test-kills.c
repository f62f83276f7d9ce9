/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nothing is lost and nothing is added twice, wherever uncored is killed: at system calls of its
 * start that may leave something and of a sweep, between instructions of a sweep, and at any time
 * while clients read. The totals of the next uncored are compared with the kernel's own counts.
 * With UNCORE_TEST_SEEDS=400 a run takes all stops (tests/harness/stops.h).
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/page.h"
#include "common/wire.h"
#include "daemon/count/ledger.h"
#include "tests/continuity/trace.h"
#include "tests/continuity/truth.h"
#include "tests/harness/stops.h"
#include "tests/harness/test.h"

/*
 * Until it maps the page or the ledger, a start changes nothing that outlives it, so its stops are
 * alike.
 */
enum { EARLY_START_STRIDE = 100, START_STRIDE = 12 };
enum { EARLY_BIRTH_STRIDE = 200, BIRTH_STRIDE = 30, INSTRUCTION_STRIDE = 400 };
enum { RANDOM_KILLS = 25, KILLS_LEAST = 200, BOXES = 2 /* of a socket */ };

static struct daemon_process daemon_process;
static struct truth truth;
static unsigned n_kills;

static void go_on_and_check(void)
{
	daemon_restart(&daemon_process, "standin");
	truth_check(&truth);
}

static void kill_it(void)
{
	daemon_kill(&daemon_process);
	n_kills++;
}

/*
 * Kills at every @stride-th stop, until there are no more. @kill_at and this return how many there
 * are.
 */
static unsigned kill_at_every(unsigned stride, unsigned (*kill_at)(unsigned nth))
{
	unsigned n_passes = stops_passes(stride), n = 0;

	for (unsigned i = 0; i < n_passes; i++) {
		unsigned nth = stops_first(stride, i);

		while ((n = kill_at(nth)) == nth)
			nth += stride;
	}
	return n;
}

static int begin(void **state)
{
	srandom(stops_seed());
	daemon_start_activated(&daemon_process, "standin", NULL, true);
	truth_begin(&truth, &daemon_process);
	truth_check(&truth);
	return 0;
}

static int end(void **state)
{
	print_message("# %u kills, %u readings compared with the kernel's counts, to %" PRIu64
		      " page faults\n",
		n_kills, truth.n_checks, truth_resolution(&truth));
	daemon_stop(&daemon_process);
	return n_kills < KILLS_LEAST;
}

static unsigned kill_in_start(const char *mapped, unsigned nth)
{
	unsigned n;

	kill_it();
	n = trace_start(&daemon_process, "standin", mapped, nth);
	n_kills++;
	go_on_and_check();
	return n;
}

static unsigned kill_in_whole_start(unsigned nth)
{
	return kill_in_start(NULL, nth);
}

static unsigned kill_with_ledger(unsigned nth)
{
	return kill_in_start("uncored-ledger", nth);
}

CASE("killed at system calls of its start, before and once the ledger is mapped, uncored goes on "
     "exactly")
{
	unsigned n_all = kill_at_every(EARLY_START_STRIDE, kill_in_whole_start);
	unsigned n = kill_at_every(START_STRIDE, kill_with_ledger);

	print_message(
		"# a start has %u stops at system calls, %u once the ledger is mapped\n", n_all, n);
	assert_true(n > 200);
	assert_true(n_all > n);
}

static unsigned kill_in_birth(const char *mapped, unsigned nth)
{
	unsigned n;

	kill_it();
	manager_lose(&daemon_process.manager, NULL);
	n = trace_start(&daemon_process, "standin", mapped, nth);
	n_kills++;
	truth_begin(&truth, &daemon_process);
	go_on_and_check();
	return n;
}

static unsigned kill_in_whole_birth(unsigned nth)
{
	return kill_in_birth(NULL, nth);
}

static unsigned kill_with_page(unsigned nth)
{
	return kill_in_birth("uncored-page", nth);
}

/*
 * The next uncored does not go on with an incomplete generation, from which nobody was served yet.
 */
CASE("killed while a generation begins, before and once the page is mapped, uncored begins another "
     "one")
{
	unsigned n_all = kill_at_every(EARLY_BIRTH_STRIDE, kill_in_whole_birth);
	unsigned n = kill_at_every(BIRTH_STRIDE, kill_with_page);

	print_message("# a first start has %u stops at system calls, %u once the page is mapped\n",
		n_all, n);
	assert_true(n > 300);
	assert_int_equal(daemon_process.manager.n_kept, 3 + 4 * standin_sockets());
}

/* --- while it sweeps --- */

/* A client's doorbell of socket 0; connected anew to each daemon. */
struct ringer {
	int connection;
	struct wire_packet packet;
};

static void ringer_connect(struct ringer *ringer)
{
	ringer->connection = connect_hello(&daemon_process, &ringer->packet);
}

static void ringer_done(struct ringer *ringer)
{
	wire_packet_done(&ringer->packet);
	close(ringer->connection);
}

static void ring(void *argument)
{
	struct ringer *ringer = argument;

	eventfd_write(ringer->packet.fds[1], 1);
}

/* Kills the running daemon in a sweep and goes on; returns how far it came. */
static unsigned kill_in_sweep(
	unsigned (*trace)(struct daemon_process *, void (*)(void *), void *, unsigned),
	unsigned nth)
{
	struct ringer ringer;
	unsigned n;

	ringer_connect(&ringer);
	n = trace(&daemon_process, ring, &ringer, nth);
	n_kills++;
	ringer_done(&ringer);
	go_on_and_check();
	return n;
}

static unsigned kill_at_call(unsigned nth)
{
	return kill_in_sweep(trace_calls, nth);
}

CASE("killed at every system call of a sweep, uncored goes on exactly")
{
	assert_true(kill_at_every(1, kill_at_call) >= 10);
}

static unsigned kill_at_instruction(unsigned nth)
{
	return kill_in_sweep(trace_instructions, nth);
}

CASE("killed between instructions of a sweep, uncored goes on exactly")
{
	unsigned n = kill_at_every(INSTRUCTION_STRIDE, kill_at_instruction);

	print_message("# a sweep has %u instructions\n", n);
	assert_true(n > 1000);
}

/* --- the state that a kill would leave --- */

/* State of socket 0. The counts that its counters had when they were opened never change. */
struct witness {
	struct ledger ledger;
	struct page_header *page;
	struct box boxes[BOXES];
	uint64_t opened_at[BOXES][PLAN_EVENTS_MAX];
	uint64_t published, kept;
	unsigned n_looks, n_changes;
};

static void *map_kept(const char *name)
{
	int fd = manager_find(&daemon_process.manager, name);
	struct stat status;
	void *map;

	assert_int_equal(fstat(fd, &status), 0);
	map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
	assert_true(map != MAP_FAILED);
	return map;
}

static void restore(struct witness *witness)
{
	struct ledger_book *book = ledger_book(&witness->ledger, 0);
	uint64_t kept = ledger_sweep(book)->number;

	ledger_restore(book, witness->boxes, BOXES);
	assert_in_range(kept, witness->kept, witness->kept + 1);
	witness->n_changes += kept != witness->kept;
	witness->kept = kept;
}

static void witness_begin(struct witness *witness)
{
	*witness =
		(struct witness){ .ledger.header = map_kept("ledger"), .page = map_kept("page-1") };
	witness->kept = ledger_sweep(ledger_book(&witness->ledger, 0))->number;
	restore(witness);
	for (unsigned b = 0; b < BOXES; b++)
		for (unsigned i = 0; i < PLAN_EVENTS_MAX; i++)
			witness->opened_at[b][i] =
				witness->boxes[b].events[i].raw - witness->boxes[b].events[i].count;
}

/*
 * Checks that counts belong to the counters that they were read from, and that the page is not
 * ahead of the ledger.
 */
static void look(void *argument)
{
	struct witness *witness = argument;
	struct page_cell *cell = page_cell(witness->page, 0);

	witness->n_looks++;
	restore(witness);
	for (unsigned b = 0; b < BOXES; b++)
		for (unsigned i = 0; i < PLAN_EVENTS_MAX; i++)
			assert_int_equal(
				witness->boxes[b].events[i].raw - witness->boxes[b].events[i].count,
				witness->opened_at[b][i]);
	if (cell->lock & 1)
		return;
	assert_in_range(cell->sweep.number, witness->published, witness->kept);
	witness->published = cell->sweep.number;
}

CASE("after every instruction of a sweep, the ledger is whole and the page not ahead of it")
{
	struct witness witness;
	struct ringer ringer;

	witness_begin(&witness);
	ringer_connect(&ringer);
	trace_looking(&daemon_process, ring, &ringer, look, &witness);
	n_kills++;
	ringer_done(&ringer);
	munmap(witness.page, witness.page->page_bytes);
	munmap(witness.ledger.header, witness.ledger.header->bytes);
	print_message("# looked after each of %u instructions\n", witness.n_looks);
	assert_true(witness.n_looks > 1000);
	assert_true(witness.n_changes > 0);
	go_on_and_check();
}

/* --- at any time --- */

static _Noreturn int read_for_ever(void *argument)
{
	for (;;) {
		struct uncore_sample sample = UNCORE_SAMPLE_INIT;
		struct uncore *uncore;

		if (uncore_open(daemon_process.socket_path, &uncore) < 0)
			continue;
		while (uncore_read(uncore, 0, UNCORE_FRESH, &sample) == 0)
			touch_pages(10);
		uncore_close(uncore);
	}
}

CASE("killed at any time while it is read, uncored goes on exactly")
{
	pid_t reader = start_as_nobody(read_for_ever, NULL);

	for (unsigned i = 0; i < RANDOM_KILLS; i++) {
		usleep((unsigned)random() % 5000);
		kill_it();
		go_on_and_check();
	}
	kill(reader, SIGKILL);
	wait_for(reader, 5);
}

int main(void)
{
	return run_privileged_cases(begin, end);
}
