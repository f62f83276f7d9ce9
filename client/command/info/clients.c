/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/info/info.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/command/frame/command.h"
#include "client/command/frame/usage.h"
#include "client/libuncore/uncore.h"
#include "common/jsonwriter.h"
#include "common/macro.h"
#include "common/text.h"

enum { PIDS_SHOWN = 8, USER_WIDTH = 20 };

/* --- asking --- */

/* The list of users; NULL, after a sentence. */
static const struct json_value *clients_take_report(struct json_document *ret, char *text)
{
	const struct json_value *users = json_list(json_document_take(ret, text), "users");

	if (!users)
		fprintf(stderr, "uncore info: uncored sent no list of clients.\n");
	return users;
}

static const struct json_value *clients_ask_daemon(
	const char *socket_path, struct json_document *ret)
{
	char *text;

	*ret = (struct json_document){ .text = NULL };
	if (uncore_clients(socket_path, &text) == 0)
		return clients_take_report(ret, text);
	fprintf(stderr, "uncore info: %s\n", uncore_error_text());
	return NULL;
}

void client_process_name(uint64_t pid, uint64_t connected_ns, char ret[PROCESS_NAME_MAX])
{
	uint64_t age_ns;

	if (!pid)
		strcpy(ret, "(not visible to uncored)");
	else if (!process_age(pid, ret, &age_ns) || age_ns < connected_ns)
		strcpy(ret, "(has ended)");
}

/* uncored does not look at other processes, but root may. */
static void add_command(struct jsonwriter *json, const struct json_value *object)
{
	char name[PROCESS_NAME_MAX];

	if (!json_has(object, "connected_ns"))
		return;
	client_process_name(json_number(object, "pid"), json_number(object, "connected_ns"), name);
	jsonwriter_text(json, "command", name);
}

/* As clients_ask_daemon(), with the command of each process. NULL: it failed. */
static char *ask_with_commands(const char *socket_path)
{
	_cleanup_(json_document_done) struct json_document document;
	_cleanup_(jsonwriter_done) struct jsonwriter json = { .out = NULL };
	char *text = NULL;

	if (!clients_ask_daemon(socket_path, &document))
		return NULL;
	jsonwriter_init(&json, false);
	json_copy(&json, NULL, document.json.values, add_command);
	if (jsonwriter_finish(&json, &text) < 0)
		fprintf(stderr, "uncore info: There is no memory for the clients.\n");
	return text;
}

/* --- one user --- */

static void print_debts(const struct json_value *user)
{
	uint64_t reads_ns = usage_part(user, "reads", "debt_ns");
	uint64_t requests_ns = usage_part(user, "requests", "debt_ns");

	if (reads_ns)
		printf("  its reads wait: %.1f ms of CPU over its budget\n",
			(double)reads_ns / 1e6);
	if (usage_part(user, "requests", "parked"))
		printf("  its requests wait: %.1f ms of CPU over its budget, %" PRIu64
		       " connections are parked\n",
			(double)requests_ns / 1e6, usage_part(user, "requests", "parked"));
}

static void print_refusals(const struct json_value *by_rule)
{
	if (!json_next(by_rule, NULL))
		return;
	printf("  refused:");
	JSON_EACH (by_rule, rule)
		printf(" %s %" PRIu64, rule->at, json_count(rule + 1));
	printf("\n");
}

/* --- the processes of a user; those with the same name share a line --- */

static bool is_alike(const struct json_value *a, const struct json_value *b)
{
	return !strcmp(json_text(a, "command", ""), json_text(b, "command", "")) &&
	       json_number(a, "uid") == json_number(b, "uid");
}

/* The first process like @process. */
static const struct json_value *first_of_kind(
	const struct json_value *processes, const struct json_value *process)
{
	JSON_EACH (processes, other)
		if (is_alike(other, process))
			return other;
	return NULL;
}

static void clients_print_age(uint64_t ns)
{
	uint64_t s = ns / 1000000000U;

	printf("%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600, s / 60 % 60, s % 60);
}

static void clients_print_kind(const struct json_value *processes, const struct json_value *first)
{
	uint64_t oldest_ns = 0, n = 0;

	printf("  %s, uid %" PRIu64 ", process", json_text(first, "command", "?"),
		json_number(first, "uid"));
	JSON_EACH (processes, process) {
		const uint64_t ns = json_number(process, "connected_ns");

		if (!is_alike(process, first))
			continue;
		if (n++ < PIDS_SHOWN)
			printf(" %s", json_text(process, "pid", "?"));
		oldest_ns = ns > oldest_ns ? ns : oldest_ns;
	}
	if (n > PIDS_SHOWN)
		printf(" and %" PRIu64 " more", n - PIDS_SHOWN);
	printf(", connected for ");
	clients_print_age(oldest_ns);
	printf("\n");
}

static void clients_print_row(const struct usage *row)
{
	const struct json_value *user = row->user, *processes = json_list(user, "processes");
	char name[256];

	usage_user(user, name, sizeof name);
	printf("%-*s %7" PRIu64 " %9" PRIu64 " %9" PRIu64 " %8.3f %8.3f %6.0f %5.1f\n", USER_WIDTH,
		name, json_number(user, "clients"), usage_part(user, "reads", "sweeps"),
		usage_part(user, "reads", "throttled"),
		(double)usage_part(user, "reads", "cpu_ns") / 1e9,
		(double)usage_part(user, "requests", "cpu_ns") / 1e9, row->sweeps_per_s,
		row->cpu_percent);
	print_debts(user);
	if (usage_part(user, "tables", "kept"))
		printf("  tables of teams: %" PRIu64 ", %.1f MiB of memory\n",
			usage_part(user, "tables", "kept"),
			(double)usage_part(user, "tables", "used_bytes") / (1 << 20));
	print_refusals(json_member(user, "refusals"));
	JSON_EACH (processes, process)
		if (first_of_kind(processes, process) == process)
			clients_print_kind(processes, process);
}

static void clients_print_rows(const struct usage rows[], size_t n, uint64_t percent)
{
	printf("%-*s %7s %28s %8s %12s\n", USER_WIDTH, "", "", "reads in all", "requests",
		"last second");
	printf("%-*s %7s %9s %9s %8s %8s %6s %5s\n", USER_WIDTH, "user", "clients", "sweeps",
		"throttled", "CPU s", "CPU s", "sweeps", "CPU %");
	for (size_t i = 0; i < n; i++)
		clients_print_row(&rows[i]);
	printf("\nAll users together may take %" PRIu64 " %% of a CPU for the sweeps of each "
	       "socket,\nand as much for requests. Cached reads cost uncored nothing, and it does "
	       "not\nsee them.\n",
		percent);
}

static int clients_print_report(const struct json_value *before, const struct json_value *report)
{
	const struct json_value *users = json_list(report, "users");
	_cleanup_free_ struct usage *rows = calloc(json_length(users) + 1, sizeof *rows);

	if (!rows) {
		fprintf(stderr, "uncore info: There is no memory for the clients.\n");
		return EXIT_FAILED;
	}
	clients_print_rows(
		rows, usage_of(before, report, rows), json_number(report, "budget_percent"));
	return 0;
}

static int clients_show_table(const char *socket_path)
{
	static const struct timespec second = { .tv_sec = 1 };
	_cleanup_(json_document_done) struct json_document before = {}, report = {};
	char *text = NULL;

	if (clients_ask_daemon(socket_path, &before)) {
		nanosleep(&second, NULL);
		text = ask_with_commands(socket_path);
	}
	return text && clients_take_report(&report, text)
		       ? clients_print_report(before.json.values, report.json.values)
		       : EXIT_FAILED;
}

int clients_show(const char *socket_path, bool json)
{
	_cleanup_free_ char *text = NULL;

	if (!json)
		return clients_show_table(socket_path);
	text = ask_with_commands(socket_path);
	if (text)
		printf("%s\n", text);
	return text ? 0 : EXIT_FAILED;
}
