/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * many RANKS REGIONS PASSAGES PAGES: forks RANKS processes, each a rank of one team. When all are
 * inside a region "all", each passes PASSAGES times through each of REGIONS regions "r0", "r1" ..,
 * at its own pace and in an order of its own, and touches PAGES new pages in each.
 *
 * Prints "LEAST MOST": how many faults of the whole machine the kernel counted while all ranks were
 * inside "all", and while any may have been.
 */
#include <err.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "tests/harness/program.h"
#include "tests/ranks/faults.h"

enum { RANKS_MOST = 1024, REGIONS_MOST = 64, MOST = 1 << 20 };

static struct {
	uint64_t ranks, regions, passages, pages;
} job;

enum stage { JOINED, ENTERED, WORKED, LEFT, STAGES };

/* What all processes see. */
static struct {
	uint64_t reached[STAGES]; /* ranks */
	uint32_t open[STAGES];    /* may they go on? */
} * shared;

static void check(int r)
{
	if (r < 0)
		errx(1, "%s", uncore_error_text());
}

static void pause_shortly(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);
}

/* A rank has reached it, and waits until it may go on. */
static void reach(enum stage stage)
{
	__atomic_fetch_add(&shared->reached[stage], 1, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&shared->open[stage], __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &shared->open[stage], FUTEX_WAIT, 0, NULL);
}

static void let_go(enum stage stage)
{
	__atomic_store_n(&shared->open[stage], 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &shared->open[stage], FUTEX_WAKE, INT32_MAX);
}

static void expect_alive(void)
{
	int status;

	if (waitpid(-1, &status, WNOHANG) > 0)
		errx(1, "A rank ended too early.");
	pause_shortly();
}

static void await(enum stage stage, uint64_t n)
{
	while (__atomic_load_n(&shared->reached[stage], __ATOMIC_SEQ_CST) < n)
		expect_alive();
}

static void pass(uint64_t region)
{
	char name[16];

	snprintf(name, sizeof name, "r%u", (unsigned)region);
	check(uncore_region_begin(name));
	faults_touch(job.pages);
	check(uncore_region_end(name));
}

static void work(uint64_t rank)
{
	for (uint64_t i = 0; i < job.passages; i++)
		for (uint64_t k = 0; k < job.regions; k++)
			pass((rank + k) % job.regions);
}

static void be_rank(uint64_t rank)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a rank that fails ends the job */
	check(uncore_region_begin("joins"));
	check(uncore_region_end("joins"));
	reach(JOINED);
	check(uncore_region_begin("all"));
	reach(ENTERED);
	work(rank);
	reach(WORKED);
	check(uncore_region_end("all"));
	reach(LEFT);
	exit(0);
}

/* One after the other: a machine of two CPUs answers no 576 programs within a second. */
static void start_ranks(void)
{
	for (uint64_t i = 0; i < job.ranks; i++) {
		pid_t pid = fork();

		if (pid < 0)
			err(1, "fork");
		if (pid == 0)
			be_rank(i);
		await(JOINED, i + 1);
	}
}

static bool all_ended_well(void)
{
	uint64_t n_good = 0;
	int status;

	while (wait(&status) > 0)
		n_good += status == 0;
	return n_good == job.ranks;
}

/* How many faults the machine has had when all have reached @stage, and before they go on. */
static uint64_t faults_at(enum stage stage)
{
	uint64_t faults;

	await(stage, job.ranks);
	faults = faults_machine();
	let_go(stage);
	return faults;
}

int main(int argc, char *argv[])
{
	uint64_t faults[STAGES];

	if (argc != 5)
		errx(2, "Say many RANKS REGIONS PASSAGES PAGES.");
	job.ranks = program_number(argv[1], RANKS_MOST);
	job.regions = program_number(argv[2], REGIONS_MOST);
	job.passages = program_number(argv[3], MOST);
	job.pages = program_number(argv[4], MOST);
	shared = shared_memory(sizeof *shared);
	start_ranks();
	for (enum stage stage = JOINED; stage < STAGES; stage++)
		faults[stage] = faults_at(stage);
	printf("%llu %llu\n", (unsigned long long)(faults[WORKED] - faults[ENTERED]),
		(unsigned long long)(faults[LEFT] - faults[JOINED]));
	return all_ended_well() ? 0 : 1;
}
