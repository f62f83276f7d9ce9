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

enum { RUNS = 3, VALUES = sizeof(struct method_figures) / sizeof(double) };

const char *const methods[METHODS] = { "read", "bpf" };

static void measure_method(const char *method, struct method_figures *ret)
{
	struct daemon_process daemon = {};
	char as_shipped[64], unlimited[128];

	snprintf(as_shipped, sizeof as_shipped, "[sweep]\nmethod = %s\n", method);
	/* The budget would hide these figures; its own cost is measured at the end. */
	snprintf(unlimited, sizeof unlimited, "%s[reader]\nbudget_percent = 100\n", as_shipped);
	measure_start(as_shipped, ret);
	daemon_start(&daemon, "standin-wide", unlimited);
	if (daemon_logged(&daemon, "has method = bpf in [sweep], but"))
		fprintf(stderr, "THE KERNEL REFUSES BPF: ITS FIGURES ARE THOSE OF READ\n");
	measure_latency(&daemon, ret);
	daemon_stop(&daemon);
	measure_default_budget(as_shipped, ret);
}

/* Of each figure. */
static struct method_figures median_of(const struct method_figures runs[RUNS])
{
	union {
		struct method_figures figures;
		double values[VALUES];
	} median;

	for (unsigned i = 0; i < VALUES; i++) {
		double values[RUNS];

		for (unsigned r = 0; r < RUNS; r++)
			values[r] = ((const double *)&runs[r])[i];
		median.values[i] = quantile(values, RUNS, 0.5);
	}
	return median.figures;
}

static void measure_methods(struct figures *ret)
{
	static struct method_figures runs[METHODS][RUNS];

	for (unsigned r = 0; r < RUNS; r++)
		for (unsigned m = 0; m < METHODS; m++) {
			fprintf(stderr, "Starts and one reader, method %s...\n", methods[m]);
			measure_method(methods[m], &runs[m][r]);
		}
	for (unsigned m = 0; m < METHODS; m++)
		ret->by[m] = median_of(runs[m]);
}

static void measure(struct figures *ret)
{
	struct daemon_process daemon = {};

	measure_methods(ret);
	daemon_start(&daemon, "standin-wide", "[reader]\nbudget_percent = 100\n");
	fprintf(stderr, "1, 8 and 64 clients at once, idle and busy...\n");
	measure_batches(&daemon, ret);
	fprintf(stderr, "Memory, ten idle seconds, uncore stat...\n");
	measure_footprint(&daemon, ret);
	daemon_stop(&daemon);
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

/* Ratios that a fresh read should not exceed. */
struct latency_goals {
	double all, own;
};

static void print_latency(
	const char *pace, const struct latency_figures *f, const struct latency_goals *goals)
{
	printf("%s:\n", pace);
	print_plain("  serial read of both sockets by a privileged process", f->serial_us, "us");
	print_plain(
		"  fresh read of both sockets by an unprivileged client", f->fresh_all_us, "us");
	print_goal("    ratio", f->fresh_all_us / f->serial_us, "", goals->all);
	print_plain("  bare local sweep of one socket", f->local_us, "us");
	print_plain("  fresh read of the own socket, on its reader's CPU", f->fresh_own_us, "us");
	print_goal("    ratio", f->fresh_own_us / f->local_us, "", goals->own);
	print_plain("  the same, from the CPU beside it", f->fresh_beside_us, "us");
	print_goal("    ratio", f->fresh_beside_us / f->local_us, "", goals->own);
}

static void print_method(const char *method, const struct method_figures *f,
	const struct latency_goals *paused, const struct latency_goals *without_pause)
{
	printf("\nmethod = %s\n", method);
	print_latency("With a pause of 500 us before each read", &f->paused, paused);
	print_latency("Without a pause", &f->without_pause, without_pause);
	print_goal("cached read of one socket", f->cached_ns, "ns", 25);
	print_goal("start to READY", f->ready_ms, "ms", 20);
	print_goal("memory at READY, VmHWM, median of 20 starts", f->hwm_kib / 1024, "MiB", 6);
	print_goal("  the worst of them", f->hwm_worst_kib / 1024, "MiB", 6);
	print_plain("mean fresh read of both sockets without pause, 10 % budget",
		f->default_budget_us, "us");
}

static void print_table(const struct figures *f)
{
	static const struct latency_goals paused[METHODS] = { { 0.21, 1.45 }, { 0.15, 0.9 } },
					  without_pause[METHODS] = { { 0.17, 1.3 }, { 0.12, 0.6 } };

	printf("\nStand-in machine, 2 sockets x 48 boxes x 3 events, medians of %d runs\n", RUNS);
	for (unsigned m = 0; m < METHODS; m++)
		print_method(methods[m], &f->by[m], &paused[m], &without_pause[m]);
	printf("\n");
	print_goal("sweeps per round of 64 clients", f->sweeps_per_round_64, "", 2);
	print_goal("wake-ups per minute, idle, 16 clients", f->idle_wakeups_per_min, "", 0);
	print_goal("resident memory with 16 clients", f->rss_kib / 1024, "MiB", 6);
	print_plain("uncore stat -- true, over true", f->stat_overhead_ms, "ms");
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

static struct json_object *method_json(const struct method_figures *f)
{
	struct json_object *object = json_object_new_object();

	add(object, "fresh_all_vs_serial", f->paused.fresh_all_us / f->paused.serial_us);
	add(object, "fresh_own_vs_local", f->paused.fresh_own_us / f->paused.local_us);
	add(object, "fresh_beside_vs_local", f->paused.fresh_beside_us / f->paused.local_us);
	add(object, "fresh_all_vs_serial_without_pause",
		f->without_pause.fresh_all_us / f->without_pause.serial_us);
	add(object, "fresh_own_vs_local_without_pause",
		f->without_pause.fresh_own_us / f->without_pause.local_us);
	add(object, "fresh_beside_vs_local_without_pause",
		f->without_pause.fresh_beside_us / f->without_pause.local_us);
	add(object, "cached_ns", f->cached_ns);
	add(object, "ready_ms", f->ready_ms);
	add(object, "hwm_kib", f->hwm_kib);
	add(object, "hwm_worst_kib", f->hwm_worst_kib);
	return object;
}

static void write_json(const struct figures *f, const char *path)
{
	struct json_object *root = json_object_new_object();

	for (unsigned m = 0; m < METHODS; m++)
		json_object_object_add(root, methods[m], method_json(&f->by[m]));
	add(root, "sweeps_per_round_64", f->sweeps_per_round_64);
	json_object_object_add(root, "clients", batchs_json(f));
	add(root, "idle_wakeups_per_min", f->idle_wakeups_per_min);
	add(root, "rss_kib", f->rss_kib);
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
