/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncore-bench [--json FILE]: measures uncored on the stand-in machine with 2 sockets x 48 boxes x
 * 3 events, prints a table of figures beside their goals, and writes them as JSON. Medians of one
 * run; only the ratios carry over to another machine. Needs root and two CPUs.
 */
#include "tests/bench/bench.h"

#include <err.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

static void measure(struct figures *ret)
{
	struct daemon_process daemon = {};

	fprintf(stderr, "Starting a daemon 11 times...\n");
	measure_start(ret);
	/* The budget would hide these figures; its own cost is measured at the end. */
	daemon_start(&daemon, "standin-wide", "[reader]\nbudget_percent = 100\n");
	fprintf(stderr, "One reader...\n");
	measure_latency(&daemon, ret);
	fprintf(stderr, "1, 8 and 64 clients at once, idle and busy...\n");
	measure_batches(&daemon, ret);
	fprintf(stderr, "Memory, ten idle seconds, uncore stat...\n");
	measure_footprint(&daemon, ret);
	daemon_stop(&daemon);
	fprintf(stderr, "The budget as shipped...\n");
	measure_default_budget(ret);
}

static void print_goal(const char *what, double value, const char *unit, double goal)
{
	printf("%-58s %9.2f %-5s goal <= %-6g %s\n", what, value, unit, goal,
		value <= goal ? "reached" : "MISSED");
}

static void print_plain(const char *what, double value, const char *unit)
{
	printf("%-58s %9.2f %s\n", what, value, unit);
}

static void print_latency(const char *pace, const struct latency_figures *f)
{
	printf("%s:\n", pace);
	print_plain("  serial read of both sockets by a privileged process", f->serial_us, "us");
	print_plain(
		"  fresh read of both sockets by an unprivileged client", f->fresh_all_us, "us");
	print_goal("    ratio", f->fresh_all_us / f->serial_us, "", 0.2);
	print_plain("  bare local sweep of one socket", f->local_us, "us");
	print_plain("  fresh read of the own socket, on its reader's CPU", f->fresh_own_us, "us");
	print_goal("    ratio", f->fresh_own_us / f->local_us, "", 1.3);
	print_plain("  the same, from the CPU beside it", f->fresh_beside_us, "us");
	print_goal("    ratio", f->fresh_beside_us / f->local_us, "", 1.3);
}

static void print_table(const struct figures *f)
{
	printf("\nStand-in machine, 2 sockets x 48 boxes x 3 events, medians\n\n");
	print_latency("With a pause of 500 us before each read", &f->paused);
	print_latency("Without a pause", &f->without_pause);
	print_goal("cached read of one socket", f->cached_ns, "ns", 50);
	print_goal("sweeps per round of 64 clients", f->sweeps_per_round_64, "", 2);
	print_goal("wake-ups per minute, idle, 16 clients", f->idle_wakeups_per_min, "", 0);
	print_goal("resident memory", f->rss_kib / 1024, "MiB", 6);
	print_goal("start to READY", f->ready_ms, "ms", 100);
	print_plain("uncore stat -- true, over true", f->stat_overhead_ms, "ms");
	print_plain("mean fresh read of both sockets without pause, 10 % budget",
		f->default_budget_us, "us");
	printf("\n%-8s %22s %22s\n", "clients", "idle median / p99 us", "busy median / p99 us");
	for (unsigned i = 0; i < BATCH_SIZES; i++)
		printf("%-8u %11.0f / %8.0f %11.0f / %8.0f\n", f->batches[i].n,
			f->batches[i].idle_median_us, f->batches[i].idle_p99_us,
			f->batches[i].busy_median_us, f->batches[i].busy_p99_us);
}

static void add(struct json_object *to, const char *key, double value)
{
	json_object_object_add(to, key, json_object_new_double(value));
}

static struct json_object *batchs_json(const struct figures *f)
{
	struct json_object *list = json_object_new_array();

	for (unsigned i = 0; i < BATCH_SIZES; i++) {
		struct json_object *batch = json_object_new_object();

		json_object_object_add(batch, "n", json_object_new_int((int)f->batches[i].n));
		add(batch, "idle_median_us", f->batches[i].idle_median_us);
		add(batch, "idle_p99_us", f->batches[i].idle_p99_us);
		add(batch, "busy_median_us", f->batches[i].busy_median_us);
		add(batch, "busy_p99_us", f->batches[i].busy_p99_us);
		json_object_array_add(list, batch);
	}
	return list;
}

static void write_json(const struct figures *f, const char *path)
{
	struct json_object *root = json_object_new_object();

	add(root, "fresh_all_vs_serial", f->paused.fresh_all_us / f->paused.serial_us);
	add(root, "fresh_own_vs_local", f->paused.fresh_own_us / f->paused.local_us);
	add(root, "fresh_beside_vs_local", f->paused.fresh_beside_us / f->paused.local_us);
	add(root, "fresh_all_vs_serial_without_pause",
		f->without_pause.fresh_all_us / f->without_pause.serial_us);
	add(root, "fresh_own_vs_local_without_pause",
		f->without_pause.fresh_own_us / f->without_pause.local_us);
	add(root, "fresh_beside_vs_local_without_pause",
		f->without_pause.fresh_beside_us / f->without_pause.local_us);
	add(root, "cached_ns", f->cached_ns);
	add(root, "sweeps_per_round_64", f->sweeps_per_round_64);
	json_object_object_add(root, "clients", batchs_json(f));
	add(root, "idle_wakeups_per_min", f->idle_wakeups_per_min);
	add(root, "rss_kib", f->rss_kib);
	add(root, "ready_ms", f->ready_ms);
	add(root, "stat_overhead_ms", f->stat_overhead_ms);
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
		errx(2, "Usage: uncore-bench [--json FILE]");
	if (!system_tests_can_run())
		errx(1, "The benchmark needs root and perf_event_open(2).");
	if (standin_sockets() < 2)
		errx(1, "The benchmark needs two CPUs.");
	measure(&figures);
	print_table(&figures);
	if (json_path)
		write_json(&figures, json_path);
	return 0;
}
