/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/bench/frame.h"

#include <err.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"

static struct json_object *root;
static const char *section; /* the figures belong to this object of the JSON */

/* --- figures --- */

void figures_begin(const char *name, const char *what)
{
	printf("\n%s: %s\n", name, what);
	section = name;
}

static struct json_object *section_json(void)
{
	struct json_object *object;

	if (!json_object_object_get_ex(root, section, &object)) {
		object = json_object_new_object();
		json_object_object_add(root, section, object);
	}
	return object;
}

void figure_add(const struct figure *figure)
{
	printf("  %-60s %12.6g %-3s", figure->what, figure->value, figure->unit);
	if (!isnan(figure->most))
		printf(" goal <= %-8.4g %s", figure->most,
			figure->value <= figure->most ? "reached" : "MISSED");
	putchar('\n');
	json_object_object_add(section_json(), figure->key, json_object_new_double(figure->value));
}

void figure_add_spread(const char *key, const char *what, double us[], unsigned n)
{
	static const struct {
		const char *name;
		double share;
	} shares[] = { { "median", 0.5 }, { "p99", 0.99 } };

	for (size_t i = 0; i < ARRAY_SIZE(shares); i++) {
		char own_key[64], own_what[128];

		snprintf(own_key, sizeof own_key, "%s_%s_us", key, shares[i].name);
		snprintf(own_what, sizeof own_what, "%s: %s", what, shares[i].name);
		figure_add(&(struct figure){
			own_key, own_what, "us", quantile(us, n, shares[i].share), NAN });
	}
}

/* --- rows --- */

static bool is_named(const char *name, char *names[])
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names;
}

static void check_names(char *names[], const struct bench_row rows[], size_t n)
{
	for (; *names; names++) {
		bool known = false;

		for (size_t i = 0; i < n; i++)
			known |= !strcmp(*names, rows[i].name);
		if (!known)
			errx(2, "There is no row %s.", *names);
	}
}

static void measure_rows(char *names[], const struct bench_row rows[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!*names || is_named(rows[i].name, names)) {
			fprintf(stderr, "%s...\n", rows[i].what);
			figures_begin(rows[i].name, rows[i].what);
			rows[i].measure();
			fflush(stdout);
		}
}

int bench_main(int argc, char *argv[], const struct bench_row rows[], size_t n)
{
	const char *json_path = NULL;
	char **names = argv + 1;

	if (argc > 1 && !strcmp(argv[1], "--json")) {
		if (argc == 2)
			errx(2, "Usage: %s [--json FILE] [ROW..]", argv[0]);
		json_path = argv[2];
		names += 2;
	}
	check_names(names, rows, n);
	if (!system_tests_can_run())
		errx(1, "The benchmark needs root and perf_event_open(2).");
	if (standin_sockets() < 2)
		errx(1, "The benchmark needs two CPUs.");
	root = json_object_new_object();
	measure_rows(names, rows, n);
	if (json_path && json_object_to_file_ext(json_path, root, JSON_C_TO_STRING_PRETTY) < 0)
		errx(1, "Cannot write %s: %s", json_path, json_util_get_last_err());
	json_object_put(root);
	return 0;
}
