/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi-steps WHAT: a rank of an MPI job. WHAT is
 *
 *   together PASSAGES PAGES   all ranks pass through region "solve" at once, between barriers
 *   apart PASSAGES PAGES      ... once, and within it through "left" and "right", each at its own
 *                             time
 *   die PAGES                 all pass through "solve" and are killed in "last"
 *   hang PAGES                all pass through "solve" and stay in "last"; rank 0 prints "in PPID"
 *
 * Each passage touches PAGES new pages. The first rank prints "LEAST MOST": how many faults of the
 * whole machine the kernel counted while all ranks were inside "solve", and from before the first
 * passage to after the first reading behind the last one. With UNCORE_OVERHEAD=0, that is the begin
 * of "after". Between two passages a region may go on: the last rank that ends may find that the
 * reading of another one is under way, and leaves its own to the next begin.
 */
#include <err.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "tests/harness/program.h"
#include "tests/ranks/faults.h"

enum { MOST = 1 << 24 };

static int rank;

static void check(int r)
{
	if (r < 0)
		errx(1, "%s", uncore_error_text());
}

static void barrier(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
}

static uint64_t faults_of_machine(void)
{
	return rank == 0 ? faults_machine() : 0;
}

static void pass_part(const char *name, uint64_t pages)
{
	check(uncore_region_begin(name));
	faults_touch(pages);
	check(uncore_region_end(name));
}

/* --- what all do inside --- */

static void touch_once(uint64_t passages, uint64_t pages)
{
	(void)passages;
	faults_touch(pages);
}

/* Ranks begin with different halves, which are not of one size. */
static void pass_halves(uint64_t passages, uint64_t pages)
{
	for (uint64_t i = 0; i < passages; i++) {
		bool left_first = ((uint64_t)rank + i) % 2;

		pass_part(left_first ? "left" : "right", pages / 4);
		pass_part(left_first ? "right" : "left", pages - pages / 4);
	}
}

/* --- between barriers --- */

static struct {
	uint64_t before, least;
} faults;

static void pass(void (*work)(uint64_t passages, uint64_t pages), uint64_t passages, uint64_t pages)
{
	uint64_t inside;

	barrier();
	check(uncore_region_begin("solve"));
	barrier();
	inside = faults_of_machine();
	barrier();
	work(passages, pages);
	barrier();
	faults.least += faults_of_machine() - inside;
	barrier();
	check(uncore_region_end("solve"));
	barrier();
}

static void begin(void)
{
	faults.before = faults_of_machine();
}

static void say(void)
{
	if (rank != 0)
		return;
	pass_part("after", 0);
	printf("%llu %llu\n", (unsigned long long)faults.least,
		(unsigned long long)(faults_of_machine() - faults.before));
}

static void together(uint64_t passages, uint64_t pages)
{
	begin();
	for (uint64_t i = 0; i < passages; i++)
		pass(touch_once, 1, pages);
	say();
}

static void apart(uint64_t passages, uint64_t pages)
{
	begin();
	pass(pass_halves, passages, pages);
	say();
}

/* --- the end --- */

static void enter_last(uint64_t pages)
{
	pass_part("solve", pages);
	barrier();
	check(uncore_region_begin("last"));
	barrier();
}

static void die(uint64_t pages)
{
	enter_last(pages);
	kill(getpid(), SIGKILL);
}

static void hang(uint64_t pages)
{
	enter_last(pages);
	if (rank == 0) {
		printf("in %d\n", (int)getppid());
		fflush(stdout);
	}
	for (;;)
		pause();
}

int main(int argc, char *argv[])
{
	const char *what = argc > 2 ? argv[1] : "";
	uint64_t first = argc > 2 ? program_number(argv[2], MOST) : 0;
	uint64_t second = argc > 3 ? program_number(argv[3], MOST) : 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!strcmp(what, "together"))
		together(first, second);
	else if (!strcmp(what, "apart"))
		apart(first, second);
	else if (!strcmp(what, "die"))
		die(first);
	else if (!strcmp(what, "hang"))
		hang(first);
	else
		errx(2, "Say together, apart, die or hang.");
	MPI_Finalize();
	return 0;
}
