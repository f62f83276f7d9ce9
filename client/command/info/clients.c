/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/info/clients.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/command/frame/command.h"
#include "client/command/frame/user.h"
#include "client/command/info/client-process.h"
#include "client/libuncore/uncore.h"
#include "client/records/json.h"
#include "common/macro.h"
#include "common/text.h"

enum { PIDS_SHOWN = 8, USER_WIDTH = 28 };

/* --- asking --- */

static struct json_object *ask(const char *socket_path)
{
	_cleanup_free_ char *text = NULL;
	struct json_object *report;

	if (uncore_clients(socket_path, &text) < 0) {
		fprintf(stderr, "uncore info: %s\n", uncore_error_text());
		return NULL;
	}
	report = json_tokener_parse(text);
	if (!json_list(report, "users"))
		fprintf(stderr, "uncore info: uncored sent no list of clients.\n");
	return report;
}

/* uncored does not look at other processes, but root may. */
static void add_commands(struct json_object *users)
{
	for (size_t u = 0; u < json_length(users); u++) {
		struct json_object *processes =
			json_list(json_object_array_get_idx(users, u), "processes");

		for (size_t p = 0; p < json_length(processes); p++) {
			struct json_object *process = json_object_array_get_idx(processes, p);
			char name[COMMAND_MAX];

			client_process_name(json_number(process, "pid"),
				json_number(process, "connected_ns"), name);
			json_object_object_add(process, "command", json_object_new_string(name));
		}
	}
}

/* --- one user --- */

/* A user, and what uncored did for that user within the last second. */
struct client_row {
	struct json_object *user;
	double sweeps_per_s, cpu_percent;
};

static uint64_t part(struct json_object *user, const char *of, const char *key)
{
	return json_number(json_member(user, of), key);
}

static uint64_t cpu_ns(struct json_object *user)
{
	return part(user, "reads", "cpu_ns") + part(user, "requests", "cpu_ns");
}

static void format_user(struct json_object *user, char *buffer, size_t size_bytes)
{
	uint32_t uid = (uint32_t)json_number(user, "uid");

	if (!json_has(user, "uid")) {
		snprintf(buffer, size_bytes, "uids %" PRIu64 "-%" PRIu64,
			json_number(user, "first_uid"), json_number(user, "last_uid"));
		return;
	}
	snprintf(buffer, size_bytes, "%s (%" PRIu32 ")", user_name(uid), uid);
	text_make_plain(buffer);
}

static void print_debts(struct json_object *user)
{
	uint64_t reads_ns = part(user, "reads", "debt_ns");
	uint64_t requests_ns = part(user, "requests", "debt_ns");

	if (reads_ns)
		printf("  its reads wait: %.1f ms of CPU over its budget\n",
			(double)reads_ns / 1e6);
	if (requests_ns || part(user, "requests", "parked"))
		printf("  its requests wait: %.1f ms of CPU over its budget, %" PRIu64
		       " connections are parked\n",
			(double)requests_ns / 1e6, part(user, "requests", "parked"));
}

static void print_refusals(struct json_object *by_rule)
{
	if (!json_object_is_type(by_rule, json_type_object) || !json_object_object_length(by_rule))
		return;
	printf("  refused:");
	json_object_object_foreach(by_rule, rule, n)
	{
		printf(" %s %" PRIu64, rule, json_object_get_uint64(n));
	}
	printf("\n");
}

/* --- the processes of a user; those with the same name share a line --- */

static bool is_alike(struct json_object *a, struct json_object *b)
{
	return !strcmp(json_text(a, "command", ""), json_text(b, "command", "")) &&
	       json_number(a, "uid") == json_number(b, "uid");
}

static bool is_first_of_its_kind(struct json_object *processes, size_t at)
{
	struct json_object *process = json_object_array_get_idx(processes, at);

	for (size_t i = 0; i < at; i++)
		if (is_alike(json_object_array_get_idx(processes, i), process))
			return false;
	return true;
}

static void print_age(uint64_t ns)
{
	uint64_t s = ns / 1000000000U;

	printf("%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600, s / 60 % 60, s % 60);
}

static void print_kind(struct json_object *processes, size_t at)
{
	struct json_object *first = json_object_array_get_idx(processes, at);
	uint64_t oldest_ns = 0, n = 0;

	printf("  %s, uid %" PRIu64 ", process", json_text(first, "command", "?"),
		json_number(first, "uid"));
	for (size_t i = at; i < json_length(processes); i++) {
		struct json_object *process = json_object_array_get_idx(processes, i);
		uint64_t ns = json_number(process, "connected_ns");

		if (!is_alike(process, first))
			continue;
		if (n++ < PIDS_SHOWN)
			printf(" %s", json_text(process, "pid", "?"));
		oldest_ns = ns > oldest_ns ? ns : oldest_ns;
	}
	if (n > PIDS_SHOWN)
		printf(" and %" PRIu64 " more", n - PIDS_SHOWN);
	printf(", connected for ");
	print_age(oldest_ns);
	printf("\n");
}

static void print_row(const struct client_row *row)
{
	struct json_object *user = row->user, *processes = json_list(user, "processes");
	char name[256];

	format_user(user, name, sizeof name);
	printf("%-*s %8" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10.3f %10.3f %8.0f %6.1f\n",
		USER_WIDTH, name, json_number(user, "clients"), part(user, "reads", "sweeps"),
		part(user, "reads", "throttled"), (double)part(user, "reads", "cpu_ns") / 1e9,
		(double)part(user, "requests", "cpu_ns") / 1e9, row->sweeps_per_s,
		row->cpu_percent);
	print_debts(user);
	if (part(user, "tables", "kept"))
		printf("  tables of teams: %" PRIu64 ", %.1f MiB of memory\n",
			part(user, "tables", "kept"),
			(double)part(user, "tables", "used_bytes") / (1 << 20));
	print_refusals(json_member(user, "refusals"));
	for (size_t i = 0; i < json_length(processes); i++)
		if (is_first_of_its_kind(processes, i))
			print_kind(processes, i);
}

/* --- all users --- */

/* The same user in another report, or NULL. */
static struct json_object *find_user(struct json_object *report, struct json_object *user)
{
	const char *key = json_has(user, "uid") ? "uid" : "first_uid";
	struct json_object *users = json_list(report, "users");

	for (size_t i = 0; i < json_length(users); i++) {
		struct json_object *other = json_object_array_get_idx(users, i);

		if (json_has(other, key) && json_number(other, key) == json_number(user, key))
			return other;
	}
	return NULL;
}

/* A number that went down belongs to a new account. */
static uint64_t rise(uint64_t before, uint64_t now)
{
	return now >= before ? now - before : now;
}

static struct client_row row_of(
	struct json_object *user, struct json_object *before, double window_ns)
{
	struct json_object *then = find_user(before, user);
	uint64_t sweeps = rise(part(then, "reads", "sweeps"), part(user, "reads", "sweeps"));

	return (struct client_row){
		.user = user,
		.sweeps_per_s = (double)sweeps * 1e9 / window_ns,
		.cpu_percent = (double)rise(cpu_ns(then), cpu_ns(user)) * 100 / window_ns,
	};
}

/* Sorts by cost, highest first: in the last second, then in total. */
static int compare_rows(const void *a, const void *b)
{
	const struct client_row *one = a, *other = b;
	uint64_t one_ns = cpu_ns(one->user), other_ns = cpu_ns(other->user);

	if (one->cpu_percent != other->cpu_percent)
		return one->cpu_percent < other->cpu_percent ? 1 : -1;
	return (one_ns < other_ns) - (one_ns > other_ns);
}

static void print_rows(const struct client_row rows[], size_t n, uint64_t percent)
{
	printf("%-*s %8s %32s %10s %15s\n", USER_WIDTH, "", "", "reads in all", "requests",
		"last second");
	printf("%-*s %8s %10s %10s %10s %10s %8s %6s\n", USER_WIDTH, "user", "clients", "sweeps",
		"throttled", "CPU s", "CPU s", "sweeps", "CPU %");
	for (size_t i = 0; i < n; i++)
		print_row(&rows[i]);
	printf("\nAll users together may take %" PRIu64
	       " %% of a CPU for the sweeps of each socket, and as much for\nrequests. Cached "
	       "reads "
	       "cost uncored nothing, and it does not see them.\n",
		percent);
}

static int print(struct json_object *before, struct json_object *report)
{
	struct json_object *users = json_list(report, "users");
	uint64_t window_ns =
		rise(json_number(before, "uptime_ns"), json_number(report, "uptime_ns"));
	_cleanup_free_ struct client_row *rows = calloc(json_length(users) + 1, sizeof *rows);

	if (!rows) {
		fprintf(stderr, "uncore info: There is no memory for the clients.\n");
		return EXIT_FAILED;
	}
	for (size_t i = 0; i < json_length(users); i++)
		rows[i] = row_of(json_object_array_get_idx(users, i), before,
			window_ns ? (double)window_ns : 1e9);
	qsort(rows, json_length(users), sizeof *rows, compare_rows);
	print_rows(rows, json_length(users), json_number(report, "budget_percent"));
	return 0;
}

static int show_table(const char *socket_path, struct json_object *before)
{
	const struct timespec second = { .tv_sec = 1 };
	struct json_object *report;
	int status = EXIT_FAILED;

	nanosleep(&second, NULL);
	report = ask(socket_path);
	add_commands(json_list(report, "users"));
	if (json_list(report, "users"))
		status = print(before, report);
	json_object_put(report);
	return status;
}

int clients_show(const char *socket_path, bool json)
{
	struct json_object *report = ask(socket_path);
	int status = EXIT_FAILED;

	if (json_list(report, "users") && !json) {
		status = show_table(socket_path, report);
	} else if (json_list(report, "users")) {
		add_commands(json_list(report, "users"));
		printf("%s\n",
			json_object_to_json_string_ext(report, JSON_C_TO_STRING_NOSLASHESCAPE));
		status = 0;
	}
	json_object_put(report);
	return status;
}
