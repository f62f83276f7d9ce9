/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncore-bench-ranks: how the budget treats the ranks of a job, and many users, on the stand-in
 * machine with 2 sockets x 48 boxes x 3 events.
 */
#include "tests/bench/ranks/bench.h"

#include <err.h>
#include <sys/resource.h>

#include "common/macro.h"

static const struct bench_row rows[] = {
	{ "ranks", "128 ranks, 50 regions of 5 ms each, unsynchronised", ranks_short },
	{ "ranks-20s", "128 ranks, regions of 5 ms for 20 s, unsynchronised", ranks_long },
	{ "ranks-576", "576 ranks come at once", ranks_576 },
	{ "team", "128 ranks of one team, 50 regions of 5 ms each, unsynchronised", ranks_team },
	{ "team-20s", "128 ranks of one team, regions of 5 ms for 20 s", ranks_team_long },
	{ "team-held", "a region that another rank holds open", team_held },
	{ "regions-999", "the same in a table of 999 regions", team_held_999 },
	{ "alone", "passages through one region, a process alone", pair_alone },
	{ "alone-999", "the same in a table of 999 regions", pair_alone_999 },
	{ "trace-held", "team-held with UNCORE_TRACE", team_held_traced },
	{ "short-8us", "passages of 8 us, a process alone", short_8us },
	{ "short-21us", "passages of 21 us, a process alone", short_21us },
	{ "barrier", "16 ranks of one team, passages of 100 us with a barrier after each",
		short_barrier },
	{ "wrapper", "2 ranks of one team, two regions in turns: 40 us, then 10 us in MPI",
		wrapper },
	{ "users-idle", "500 users connected and idle, one reads", users_idle },
	{ "users-slow", "500 users read once a second, 10 s", users_slow },
	{ "users-greedy", "50 users read without pause, 20 s", users_greedy },
	{ "users-rotating", "one user reads with 400 subordinate ids in turn, 20 s",
		users_rotating },
	{ "report-10000", "uncore report of 10,000 nodes, files of 55 kB", report_10000 },
};

/* The daemon inherits this process's limit; the limit in systemd's unit is high. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		err(1, "getrlimit");
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		err(1, "Cannot raise the limit of open files");
}

int main(int argc, char *argv[])
{
	raise_descriptor_limit();
	return bench_main(argc, argv, rows, ARRAY_SIZE(rows));
}
