/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncore-bench-pcp: how long PCP takes to fetch the counters of the stand-in machine
 * with 2 sockets x 48 boxes x 3 events: from pmdauncore, from PCP's own pmdaperfevent, and from an
 * agent that reads nothing. One run, one pmcd; only the ratios carry over to another machine.
 */
#include "tests/bench/pcp/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/bench/pcp/private-pmcd.h"

/* The most that pmdauncore may add to the floor, besides one fresh read. */
static const double goal_added_us = 10, goal_of_perfevent = 0.3;

static const struct {
	const char *key, *text;
} kinds[KINDS] = {
	[FRESH] = { "fresh_read", "a fresh read of both sockets, without PCP" },
	[FRESH_AGAIN] = { "fresh_read_again", "... right after another" },
	[FLOOR_PIPE] = { "floor_pipe", "an agent that reads nothing, daemon" },
	[FLOOR_DSO] = { "floor_dso", "an agent that reads nothing, DSO" },
	[OURS_PIPE] = { "ours_pipe", "pmdauncore, all per-socket counters, daemon" },
	[OURS_DSO] = { "ours_dso", "pmdauncore, all per-socket counters, DSO" },
	[PERFEVENT] = { "perfevent", "pmdaperfevent, all 288 counters" },
	[PERFEVENT_ONE] = { "perfevent_one", "pmdaperfevent, 2 of its 288 counters" },
};

static struct daemon_process uncored;
static pid_t own_pid;

void shuffle_kinds(enum kind ret_order[KINDS])
{
	for (int i = 0; i < KINDS; i++) {
		int k = rand() % (i + 1);

		ret_order[i] = ret_order[k];
		ret_order[k] = i;
	}
}

/* Stops uncored however this process ends, but not when one of its children ends. */
static void stop_uncored(void)
{
	if (getpid() == own_pid)
		daemon_stop(&uncored);
	uncored.pid = 0;
}

/* --- figures --- */

static void add_goal(const char *key, const char *what, double value, double most)
{
	figure_add(&(struct figure){ key, what, "", value, most });
}

/* The time that pmdauncore takes beyond an agent that reads nothing and the read itself. */
static double added_us(const double median_us[KINDS], enum kind ours, enum kind floor)
{
	return median_us[ours] - median_us[floor] - median_us[FRESH];
}

void fetches_add(double *const us[KINDS], unsigned n)
{
	double median_us[KINDS];

	for (int kind = 0; kind < KINDS; kind++) {
		median_us[kind] = quantile(us[kind], n, 0.5);
		if (median_us[kind] > 0)
			figure_add_spread(kinds[kind].key, kinds[kind].text, us[kind], n);
	}
	add_goal("ours_pipe_vs_perfevent", "pmdauncore / pmdaperfevent, daemon",
		median_us[OURS_PIPE] / median_us[PERFEVENT], goal_of_perfevent);
	add_goal("ours_dso_vs_perfevent", "pmdauncore / pmdaperfevent, DSO",
		median_us[OURS_DSO] / median_us[PERFEVENT], goal_of_perfevent);
	if (!(median_us[FRESH_AGAIN] > 0)) /* of many clients, these say nothing */
		return;
	add_goal("ours_pipe_added_us", "pmdauncore - nothing - fresh read, daemon, us",
		added_us(median_us, OURS_PIPE, FLOOR_PIPE), goal_added_us);
	add_goal("ours_dso_added_us", "pmdauncore - nothing - fresh read, DSO, us",
		added_us(median_us, OURS_DSO, FLOOR_DSO), goal_added_us);
}

/* --- the row --- */

static void measure(void)
{
	own_pid = getpid();
	atexit(stop_uncored);
	/* The budget would hide these figures. */
	daemon_start(&uncored, "standin-wide", "[reader]\nbudget_percent = 100\n");
	private_pmcd_start(uncored.socket_path);
	measure_latency(uncored.socket_path);
	measure_batch(uncored.socket_path);
	private_pmcd_stop();
	stop_uncored();
}

int main(int argc, char *argv[])
{
	static const struct bench_row row = { "fetch", "pmFetch, 2 sockets x 48 boxes x 3 events",
		measure };

	return bench_main(argc, argv, &row, 1);
}
