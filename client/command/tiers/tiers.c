/* SPDX-License-Identifier: BSD-3-Clause */
/* uncore tiers: which tiers of memory there are, what of them is used, and their traffic. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/command/frame/child.h"
#include "client/command/frame/command.h"
#include "client/command/frame/output.h"
#include "client/command/tiers/tiers.h"
#include "common/clock.h"
#include "common/macro.h"
#include "common/tiers.h"

static const uint64_t ONCE_NS = 1000000000;
static const char ROOT[] = "";

static void tiers_done(struct tiers *tiers)
{
	nodes_done(&tiers->nodes);
	pages_done(&tiers->pages);
	readout_done(&tiers->before);
	readout_done(&tiers->now);
	total_done(&tiers->total);
	reader_close(&tiers->reader);
}

static int tiers_complain(const char *text)
{
	fprintf(stderr, "uncore tiers: %s\n", text);
	return EXIT_FAILED;
}

/* --- traffic --- */

#define TIER(name) name

/* Leaves out what is not of a tier. */
static void tiers_choose(struct total *total, const struct uncore *handle)
{
	static const char *const tiers[] = { TIERS(TIER), "cxl" };
	uint32_t left_out = UINT32_MAX;
	char word[UNCORE_NAME_MAX];

	total_add_tiers(total, handle);
	for (size_t i = 0; i < ARRAY_SIZE(tiers); i++)
		if (total_choose(total, handle, tiers[i], word))
			left_out &= total->left_out;
	total->left_out = left_out;
}

/* Does a socket count this metric? */
static bool tiers_is_counted(const struct tiers *tiers, const char *name)
{
	const int metric = uncore_find_metric(tiers->reader.handle, name);

	for (uint32_t i = 0; metric >= 0 && i < tiers->now.n_sockets; i++)
		if (!(tiers->now.samples[i].values[metric].quality & UNCORE_ABSENT))
			return true;
	return false;
}

/* Shows in .total what moved since the last reading, if there was one. */
static int add_traffic(struct tiers *tiers)
{
	int r = total_init(&tiers->total, tiers->now.n_sockets, NULL);

	tiers_choose(&tiers->total, tiers->reader.handle);
	if (r < 0 || !tiers->before.samples)
		return r;
	return total_add_interval(&tiers->total, &tiers->before, &tiers->now);
}

/* Takes a reading. Where one fails, there are no figures until after the next one. */
static void read_traffic(struct tiers *tiers)
{
	static const struct reader_wish wish = { .use = READER_DIFFERENCE };
	const struct readout before = tiers->now;
	int r;

	tiers->now = tiers->before;
	tiers->before = before;
	total_done(&tiers->total);
	tiers->total = (struct total){ .runs = 0 };
	r = reader_take(&tiers->reader, &wish, &tiers->now);
	if (r == 0) {
		tiers->counted = (struct nodes_counted){ tiers_is_counted(tiers, "dram.read"),
			tiers_is_counted(tiers, "hbm.read"), tiers_is_counted(tiers, "pmm.read") };
		r = add_traffic(tiers);
	}
	if (r == 0)
		return;
	snprintf(tiers->failure, sizeof tiers->failure, "%s", reader_failure(r));
	readout_done(&tiers->now);
	reader_close(&tiers->reader); /* the next one may have begun to count anew */
}

/* --- looks --- */

static int tiers_look(struct tiers *tiers)
{
	int r;

	tiers->looked_ns = clock_now_ns();
	if (tiers->options.interval_ns)
		pages_look(&tiers->pages, tiers->looked_ns);
	read_traffic(tiers);
	nodes_done(&tiers->nodes);
	r = nodes_read(ROOT, &tiers->nodes);
	if (r < 0)
		return tiers_complain(
			r == -ENOMEM ? "no memory."
				     : "/sys/devices/system/node shows no node: the kernel was "
				       "built without NUMA, or sysfs is not mounted.");
	nodes_judge(ROOT, tiers->counted, &tiers->nodes);
	if (tiers->options.json)
		tiers_json(tiers);
	else if (tiers->options.csv)
		tiers_csv(tiers);
	else
		tiers_print(tiers);
	return output_check(stdout, "uncore tiers", "stdout") < 0 ? EXIT_FAILED : 0;
}

static int tiers_watch(struct tiers *tiers)
{
	const uint64_t step_ns = tiers->options.interval_ns ? tiers->options.interval_ns : ONCE_NS;
	uint64_t tick_ns = clock_now_ns();
	struct child_signals signals;
	int status;

	child_take_signals(&signals);
	do {
		/* Without traffic a single look has nothing to wait for. */
		tick_ns = clock_next_tick_ns(tick_ns + 1, step_ns);
		if ((tiers->options.interval_ns || tiers->now.samples) &&
			child_pause(&signals, tick_ns))
			return EXIT_BY_SIGNAL + signals.stop;
		status = tiers_look(tiers);
	} while (!status && tiers->options.interval_ns && !pages_are_gone(&tiers->pages));
	return status;
}

static int tiers_run(struct tiers *tiers)
{
	char why[PROCESS_WHY_MAX];

	if (pages_init(&tiers->pages, ROOT, tiers->options.pids.number, tiers->options.pids.n) < 0)
		return tiers_complain("no memory.");
	tiers->begun_ns = clock_now_ns();
	pages_look(&tiers->pages, tiers->begun_ns);
	for (unsigned i = 0; pages_are_gone(&tiers->pages) && i < tiers->pages.n; i++) {
		process_why(&tiers->pages.all[i], why);
		tiers_complain(why);
	}
	if (pages_are_gone(&tiers->pages))
		return EXIT_FAILED;
	read_traffic(tiers);
	return tiers_watch(tiers);
}

int command_tiers(int argc, char **argv)
{
	_cleanup_(tiers_done) struct tiers tiers = { .begun_ns = 0 };
	int status = option_parse(&tiers_table, argc, argv, &tiers.options, NULL);

	if (status < 0)
		status = option_no_argument(&tiers_table, argc, argv);
	if (status >= 0)
		return status;
	if (tiers.options.json && tiers.options.csv)
		return option_complain(&tiers_table, "choose one of --json and --csv");
	tiers.reader.socket_path = tiers.options.socket_path;
	return tiers_run(&tiers);
}
