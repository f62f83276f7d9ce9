/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncore-bench-pcp [--json FILE]: how long PCP takes to fetch the counters of the stand-in machine
 * with 2 sockets x 48 boxes x 3 events: from pmdauncore, from PCP's own pmdaperfevent, and from an
 * agent that reads nothing. One run, one pmcd; only the ratios carry over to another machine. Needs
 * root and two CPUs.
 */
#include "tests/bench/pcp/bench.h"

#include <err.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/bench/pcp/private-pmcd.h"
#include "tests/harness/daemon-process.h"

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

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct spread spread_of(double us[], unsigned n)
{
	qsort(us, n, sizeof *us, compare);
	return (struct spread){ us[(n - 1) / 2], us[(n - 1) * 99 / 100] };
}

void shuffle_kinds(enum kind ret_order[KINDS])
{
	for (int i = 0; i < KINDS; i++) {
		int k = rand() % (i + 1);

		ret_order[i] = ret_order[k];
		ret_order[k] = i;
	}
}

void *shared_memory(uint64_t size_bytes)
{
	void *memory =
		mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		err(1, "mmap");
	return memory;
}

/* Stops uncored however this process ends, but not when one of its children ends. */
static void stop_uncored(void)
{
	if (getpid() == own_pid)
		daemon_stop(&uncored);
	uncored.pid = 0;
}

static void measure(struct figures *ret)
{
	own_pid = getpid();
	atexit(stop_uncored);
	/* The budget would hide these figures. */
	daemon_start(&uncored, "standin-wide", "[reader]\nbudget_percent = 100\n");
	private_pmcd_start(uncored.socket_path);
	fprintf(stderr, "One client...\n");
	measure_latency(uncored.socket_path, ret);
	fprintf(stderr, "%d clients at once...\n", BATCH);
	measure_batch(uncored.socket_path, ret);
	private_pmcd_stop();
	stop_uncored();
}

static double ratio(const struct spread s[KINDS], enum kind ours)
{
	return s[ours].median_us / s[PERFEVENT].median_us;
}

/* The time that pmdauncore takes beyond an agent that reads nothing and the read itself. */
static double added_us(const struct spread s[KINDS], enum kind ours, enum kind floor)
{
	return s[ours].median_us - s[floor].median_us - s[FRESH].median_us;
}

static void print_goal(const char *what, double value, double goal)
{
	printf("  %-48s %9.2f  goal <= %-4g %s\n", what, value, goal,
		value <= goal ? "reached" : "MISSED");
}

static void print_ratios(const struct spread s[KINDS])
{
	print_goal("pmdauncore / pmdaperfevent, daemon", ratio(s, OURS_PIPE), goal_of_perfevent);
	print_goal("pmdauncore / pmdaperfevent, DSO", ratio(s, OURS_DSO), goal_of_perfevent);
}

static bool is_measured(const struct spread *spread)
{
	return spread->p99_us > 0;
}

static void print_spreads(const char *title, const struct spread s[KINDS])
{
	printf("%-50s %9s %9s\n", title, "median us", "p99 us");
	for (int kind = 0; kind < KINDS; kind++)
		if (is_measured(&s[kind]))
			printf("  %-48s %9.1f %9.1f\n", kinds[kind].text, s[kind].median_us,
				s[kind].p99_us);
}

static void print_one_client(const char *title, const struct spread s[KINDS])
{
	print_spreads(title, s);
	print_ratios(s);
	print_goal("pmdauncore - nothing - fresh read, daemon, us",
		added_us(s, OURS_PIPE, FLOOR_PIPE), goal_added_us);
	print_goal("pmdauncore - nothing - fresh read, DSO, us", added_us(s, OURS_DSO, FLOOR_DSO),
		goal_added_us);
}

static void print_table(const struct figures *f)
{
	printf("\npmFetch on the stand-in machine, 2 sockets x 48 boxes x 3 events\n\n");
	print_one_client("One client, asleep for 1500 us before each", f->asleep);
	print_one_client("One client, busy for 20 us before each", f->busy);
	print_spreads("16 clients at once, each", f->batch);
	print_ratios(f->batch);
}

/* --- JSON --- */

static void add(struct json_object *to, const char *key, double value)
{
	json_object_object_add(to, key, json_object_new_double(value));
}

static struct json_object *spreads_json(const struct spread s[KINDS])
{
	struct json_object *object = json_object_new_object();

	for (int kind = 0; kind < KINDS; kind++) {
		struct json_object *spread;

		if (!is_measured(&s[kind]))
			continue;
		spread = json_object_new_object();
		add(spread, "median_us", s[kind].median_us);
		add(spread, "p99_us", s[kind].p99_us);
		json_object_object_add(object, kinds[kind].key, spread);
	}
	add(object, "ours_pipe_vs_perfevent", ratio(s, OURS_PIPE));
	add(object, "ours_dso_vs_perfevent", ratio(s, OURS_DSO));
	return object;
}

static struct json_object *one_client_json(const struct spread s[KINDS])
{
	struct json_object *object = spreads_json(s);

	add(object, "ours_pipe_added_us", added_us(s, OURS_PIPE, FLOOR_PIPE));
	add(object, "ours_dso_added_us", added_us(s, OURS_DSO, FLOOR_DSO));
	return object;
}

static void write_json(const struct figures *f, const char *path)
{
	struct json_object *root = json_object_new_object();

	json_object_object_add(root, "asleep", one_client_json(f->asleep));
	json_object_object_add(root, "busy", one_client_json(f->busy));
	json_object_object_add(root, "clients_16", spreads_json(f->batch));
	if (json_object_to_file_ext(path, root, JSON_C_TO_STRING_PRETTY) < 0)
		errx(1, "Cannot write %s: %s", path, json_util_get_last_err());
	json_object_put(root);
}

int main(int argc, char *argv[])
{
	struct figures figures = {};
	const char *json_path = NULL;

	if (argc == 3 && !strcmp(argv[1], "--json"))
		json_path = argv[2];
	else if (argc != 1)
		errx(2, "Usage: uncore-bench-pcp [--json FILE]");
	if (!system_tests_can_run())
		errx(1, "The benchmark needs root and perf_event_open(2).");
	if (standin_sockets() < SOCKETS)
		errx(1, "The benchmark needs two CPUs.");
	measure(&figures);
	print_table(&figures);
	if (json_path)
		write_json(&figures, json_path);
	return 0;
}
