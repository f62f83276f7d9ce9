/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncore-bench-ranks [--json FILE] [ROW..]: how the budget treats the ranks of a job, and many
 * users, on the stand-in machine with 2 sockets x 48 boxes x 3 events. Prints figures beside their
 * goals. All ratios are of one run. Needs root and two CPUs.
 */
#include "tests/bench/ranks/bench.h"

#include <err.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "common/macro.h"

static const struct row {
	const char *name, *what;
	void (*measure)(void);
} rows[] = {
	{ "ranks", "128 ranks, 50 regions of 5 ms each, unsynchronised", ranks_short },
	{ "ranks-20s", "128 ranks, regions of 5 ms for 20 s, unsynchronised", ranks_long },
	{ "ranks-576", "576 ranks come at once", ranks_576 },
	{ "team", "128 ranks of one team, 50 regions of 5 ms each, unsynchronised", ranks_team },
	{ "team-20s", "128 ranks of one team, regions of 5 ms for 20 s", ranks_team_long },
	{ "team-held", "a region that another rank holds open", team_held },
	{ "regions-999", "the same in a table of 999 regions", team_held_999 },
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

/* The figures of the row that is being measured. */
static struct json_object *row_json;

void figure_add(const struct figure *figure)
{
	printf("  %-52s %12.6g %-3s", figure->what, figure->value, figure->unit);
	if (!isnan(figure->most))
		printf(" goal <= %-8.4g %s", figure->most,
			figure->value <= figure->most ? "reached" : "MISSED");
	putchar('\n');
	json_object_object_add(row_json, figure->key, json_object_new_double(figure->value));
}

static bool is_wanted(const struct row *row, char *names[])
{
	bool wanted = !*names;

	for (; *names; names++)
		wanted |= !strcmp(*names, row->name);
	return wanted;
}

static void check_names(char *names[])
{
	for (; *names; names++) {
		bool known = false;

		for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
			known |= !strcmp(*names, rows[i].name);
		if (!known)
			errx(2, "There is no row %s.", *names);
	}
}

static struct json_object *measure(char *names[])
{
	struct json_object *root = json_object_new_object();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!is_wanted(&rows[i], names))
			continue;
		fprintf(stderr, "%s...\n", rows[i].what);
		printf("\n%s: %s\n", rows[i].name, rows[i].what);
		row_json = json_object_new_object();
		json_object_object_add(root, rows[i].name, row_json);
		rows[i].measure();
		fflush(stdout);
	}
	return root;
}

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
	const char *json_path = NULL;
	struct json_object *root;
	char **names = argv + 1;

	if (argc > 1 && !strcmp(argv[1], "--json")) {
		if (argc == 2)
			errx(2, "Usage: uncore-bench-ranks [--json FILE] [ROW..]");
		json_path = argv[2];
		names += 2;
	}
	check_names(names);
	if (!system_tests_can_run())
		errx(1, "The benchmark needs root and perf_event_open(2).");
	if (standin_sockets() < SOCKETS)
		errx(1, "The benchmark needs two CPUs.");
	raise_descriptor_limit();
	root = measure(names);
	if (json_path && json_object_to_file_ext(json_path, root, JSON_C_TO_STRING_PRETTY) < 0)
		errx(1, "Cannot write %s: %s", json_path, json_util_get_last_err());
	json_object_put(root);
	return 0;
}
