/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A writer of the sums ends, or is stopped for a while, between any two instructions. Intervals
 * are exact, so that half of one among the sums would show in the rates.
 */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/estimate/sums.h"
#include "tests/unit/estimate/estimate-interval.h"

enum {
	DT_NS = 1000000,
	ENDS = 200,
	ENDS_MAX = 5000,
	MERGES = 5,
	STOPS = 100,
	STEPS_MAX = 200000,
	FEW = 4000
};

static struct estimate shared;
static size_t shared_bytes;

static int share(void **state)
{
	shared = (struct estimate){ .n_sockets = SOCKETS, .n_metrics = N_METRICS };
	shared_bytes = estimate_bytes(SOCKETS, N_METRICS);
	shared.memory =
		mmap(NULL, shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return shared.memory == MAP_FAILED;
}

static int unshare_it(void **state)
{
	return munmap(shared.memory, shared_bytes);
}

static uint64_t some_time_ns(uint64_t *seed)
{
	return DT_NS + chance_next(seed) % DT_NS;
}

static void add_some(const struct estimate *estimate, uint32_t n, uint64_t *seed)
{
	for (uint32_t i = 0; i < n; i++)
		add_many(estimate, 1, some_time_ns(seed), seed);
}

/* --- every instruction of one row --- */

/* A child that has stopped before it adds. */
static pid_t start_row(uint64_t seed)
{
	struct interval interval;
	pid_t pid;

	interval_fill(&interval, DT_NS, &seed);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		estimate_add(&shared, &interval.row);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return pid;
}

/* False: it has ended. */
static bool step(pid_t pid)
{
	int status;

	assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return !WIFEXITED(status);
}

/* What the next writer finds when this one ends here. Returns how many rows are lost. */
static uint64_t next_goes_on(uint64_t seed)
{
	struct estimate copy = estimate_empty(SOCKETS, N_METRICS);
	uint64_t lost;

	memcpy(copy.memory, shared.memory, shared_bytes);
	add_some(&copy, 30, &seed);
	assert_rates(&copy);
	lost = sums_header(&copy)->lost;
	free(copy.memory);
	return lost;
}

/* The sums get one more row in a block that has room for it. */
static void fill(uint64_t *seed)
{
	const struct sums_header *header = sums_header(&shared);

	memset(shared.memory, 0, shared_bytes);
	do
		add_some(&shared, 100, seed);
	while (sums_block(&shared, header->current)->dt_s >= header->block_s);
}

CASE("killed between instructions of a row")
{
	uint32_t n = 0, n_lost = 0;
	uint64_t seed = 1;
	pid_t pid;

#ifdef __SANITIZE_THREAD__
	return; /* it makes 65,000 instructions of one row */
#endif
	fill(&seed);
	pid = start_row(seed);
	do
		if (n % (n < FEW ? 13 : 293) == 0) /* sanitizers make many */
			n_lost += next_goes_on(seed) > 0;
	while (++n < STEPS_MAX && step(pid));
	print_message("# %u instructions, rows lost after %u\n", n, n_lost);
	assert_in_range(n, 1000, STEPS_MAX - 1);
	assert_in_range(n_lost, 50, n);
}

/* --- at any time, rows and merges --- */

/* A child that adds for ever; each row fills a block, so that blocks are merged all the time. */
static pid_t start_writer(uint64_t seed)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	while (!pid) {
		sums_header(&shared)->block_s = 1e-3;
		add_some(&shared, 1, &seed);
	}
	return pid;
}

static void end_writer(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Until the writer has added a row, and then for some time. */
static void wait_some_time(uint64_t *seed)
{
	const struct sums_header *header = sums_header(&shared);
	uint64_t rows = __atomic_load_n(&header->rows, __ATOMIC_RELAXED);

	while (__atomic_load_n(&header->rows, __ATOMIC_RELAXED) == rows)
		usleep(100);
	usleep((useconds_t)(chance_next(seed) % 500));
}

CASE("killed at any time")
{
	uint32_t n_adding = 0, n_merging = 0;
	uint64_t seed = 2;

	memset(shared.memory, 0, shared_bytes);
	for (uint32_t i = 0; i < ENDS || (n_merging < MERGES && i < ENDS_MAX); i++) {
		pid_t pid = start_writer(chance_next(&seed));

		wait_some_time(&seed);
		end_writer(pid);
		n_merging += sums_header(&shared)->busy == SUMS_MERGING;
		n_adding += sums_header(&shared)->busy - 1 < ESTIMATE_BLOCKS;
		next_goes_on(seed);
	}
	print_message("# killed %u times in a row and %u in a merge\n", n_adding, n_merging);
	assert_true(n_merging >= MERGES);
}

CASE("a writer that goes on late adds no nonsense")
{
	uint64_t seed = 3;

	memset(shared.memory, 0, shared_bytes);
	for (uint32_t i = 0; i < STOPS; i++) {
		pid_t pid = start_writer(chance_next(&seed));
		int status;

		wait_some_time(&seed);
		kill(pid, SIGSTOP);
		assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
		sums_header(&shared)->block_s = 1e-3;
		add_some(&shared, 1 + i % 50, &seed);
		kill(pid, SIGCONT);
		wait_some_time(&seed);
		end_writer(pid);
		next_goes_on(seed);
	}
}

int main(void)
{
	return run_cases(share, unshare_it);
}
