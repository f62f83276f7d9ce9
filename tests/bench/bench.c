/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncore-bench: measures uncored on the stand-in machine with 2 sockets x 48 boxes x 3 events. Only
 * the ratios carry over to another machine.
 */
#include "tests/bench/bench.h"

#include <stdio.h>

#include "common/macro.h"

enum { RUNS = 3, VALUES = sizeof(struct method_figures) / sizeof(double) };

/* Ratios that a fresh read should not exceed. */
struct latency_goals {
	double all, own;
};

enum { METHODS = 2 };
static const struct method {
	const char *name, *what;
	struct latency_goals paused, without_pause;
} methods[METHODS] = {
	{ "read", "method = read, medians", { 0.21, 1.45 }, { 0.17, 1.3 } },
	{ "bpf", "method = bpf, medians", { 0.15, 0.9 }, { 0.12, 0.6 } },
};

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

/* The keys of a pace end with @suffix. */
static void add_latency(const char *suffix, const char *pace, const struct latency_figures *f,
	const struct latency_goals *goals)
{
	const struct figure figures[] = {
		{ "serial_us", "serial read of both sockets by a privileged process", "us",
			f->serial_us, NAN },
		{ "fresh_all_us", "fresh read of both sockets by an unprivileged client", "us",
			f->fresh_all_us, NAN },
		{ "fresh_all_vs_serial", "... ratio", "", f->fresh_all_us / f->serial_us,
			goals->all },
		{ "local_us", "bare local sweep of one socket", "us", f->local_us, NAN },
		{ "fresh_own_us", "fresh read of the own socket, on its reader's CPU", "us",
			f->fresh_own_us, NAN },
		{ "fresh_own_vs_local", "... ratio", "", f->fresh_own_us / f->local_us,
			goals->own },
		{ "fresh_beside_us", "the same, from the CPU beside it", "us", f->fresh_beside_us,
			NAN },
		{ "fresh_beside_vs_local", "... ratio", "", f->fresh_beside_us / f->local_us,
			goals->own },
	};

	printf("  %s:\n", pace);
	for (size_t i = 0; i < ARRAY_SIZE(figures); i++) {
		struct figure figure = figures[i];
		char key[64];

		snprintf(key, sizeof key, "%s%s", figure.key, suffix);
		figure.key = key;
		figure_add(&figure);
	}
}

static void add_method(const struct method *method, const struct method_figures *f)
{
	figures_begin(method->name, method->what);
	add_latency("", "with a pause of 500 us before each read", &f->paused, &method->paused);
	add_latency("_without_pause", "without a pause", &f->without_pause, &method->without_pause);
	figure_add(&(struct figure){
		"cached_ns", "cached read of one socket", "ns", f->cached_ns, 25 });
	figure_add(&(struct figure){ "ready_ms", "start to READY", "ms", f->ready_ms, 20 });
	figure_add(&(struct figure){ "hwm_kib", "memory at READY, VmHWM, median of 20 starts",
		"KiB", f->hwm_kib, 6144 });
	figure_add(&(struct figure){
		"hwm_worst_kib", "... the worst of them", "KiB", f->hwm_worst_kib, 6144 });
	figure_add(&(struct figure){ "default_budget_us",
		"mean fresh read of both sockets without pause, 10 % budget", "us",
		f->default_budget_us, NAN });
}

/* The methods take turns. */
static void measure_methods(void)
{
	static struct method_figures runs[METHODS][RUNS];

	for (unsigned r = 0; r < RUNS; r++)
		for (unsigned m = 0; m < METHODS; m++)
			measure_method(methods[m].name, &runs[m][r]);
	for (unsigned m = 0; m < METHODS; m++) {
		const struct method_figures median = median_of(runs[m]);

		add_method(&methods[m], &median);
	}
}

static void measure_clients(void)
{
	struct daemon_process daemon = {};

	daemon_start(&daemon, "standin-wide", "[reader]\nbudget_percent = 100\n");
	measure_batches(&daemon);
	measure_footprint(&daemon);
	daemon_stop(&daemon);
}

int main(int argc, char *argv[])
{
	static const struct bench_row rows[] = {
		{ "methods", "starts and one reader", measure_methods },
		{ "clients", "many clients at once, memory, idle wake-ups, uncore stat",
			measure_clients },
	};

	return bench_main(argc, argv, rows, ARRAY_SIZE(rows));
}
