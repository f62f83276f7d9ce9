/* SPDX-License-Identifier: BSD-3-Clause */
/* The uncore command as a user without root runs it against the real daemon. */
#include "tests/harness/daemon-process.h"
#include "tests/harness/test.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"

static struct run run;

/* `uncore VERB --socket PATH ...` as nobody. */
static void uncore(const char *const arguments[])
{
	const char *all[ARGUMENTS_MAX] = { arguments[0], "--socket", the_daemon.socket_path };

	for (unsigned i = 1; arguments[i]; i++)
		all[i + 2] = arguments[i];
	run_uncore(&run, all);
}

#define UNCORE(...) uncore((const char *const[]){ __VA_ARGS__, NULL })

static void assert_says(const char *words)
{
	if (!strstr(run.output, words))
		fail_msg("no '%s' in: %s", words, run.output);
}

CASE("stat prints bytes, rates, error bound and the counted metrics")
{
	UNCORE("stat", "--", "true");
	assert_int_equal(run.status, 0);
	assert_says("socket 0");
	assert_says("dram.read");
	assert_says("dram.write");
	assert_says("GB/s");
	assert_says("error bound");
	assert_says("Everything that each socket did is counted, not only this command.");
	assert_says("nothing here is memory traffic");
}

CASE("stat ends with its command's status")
{
	UNCORE("stat", "--", "sh", "-c", "exit 7");
	assert_int_equal(run.status, 7);
	UNCORE("stat", "--", "sh", "-c", "kill -TERM $$");
	assert_int_equal(run.status, 128 + 15);
	UNCORE("stat", "--", "/no/such/program");
	assert_int_equal(run.status, 127);
}

CASE("stat -I prints while the command runs")
{
	unsigned n = 0;

	UNCORE("stat", "--json", "-I", "50", "--", "sleep", "0.3");
	assert_int_equal(run.status, 0);
	for (const char *c = run.output; (c = strstr(c, "\"interval\"")); c++)
		n++;
	assert_true(n >= 2); /* how many is up to the scheduler */
}

static struct json_object *member(struct json_object *object, const char *key)
{
	struct json_object *value = json_object_object_get(object, key);

	if (!value)
		fail_msg("no key %s in %s", key, json_object_to_json_string(object));
	return value;
}

CASE("stat --json has the promised keys")
{
	struct json_object *report, *socket, *metrics;

	UNCORE("stat", "--json", "-r", "3", "--", "true");
	assert_int_equal(run.status, 0);
	report = json_tokener_parse(run.output);
	assert_non_null(report);
	assert_string_equal(json_object_get_string(member(report, "platform")), "standin");
	assert_int_equal(strlen(json_object_get_string(member(report, "generation"))), 32);
	assert_int_equal(json_object_get_int(member(report, "runs")), 3);
	assert_true(json_object_get_int64(member(report, "window_ns")) > 0);
	socket = json_object_array_get_idx(member(report, "sockets"), 0);
	assert_int_equal(json_object_get_int(member(socket, "socket")), 0);
	assert_true(json_object_get_int64(member(socket, "window_ns")) > 0);
	assert_true(json_object_get_int64(member(socket, "skew_ns")) > 0);
	metrics = member(socket, "metrics");
	member(member(metrics, "dram.read"), "bytes");
	assert_string_equal(json_object_get_string(json_object_array_get_idx(
				    member(member(metrics, "dram.read"), "quality"), 0)),
		"standin");
	assert_string_equal(json_object_get_string(member(member(metrics, "hbm.read"), "absent")),
		"The stand-in machine has no such counter.");
	json_object_put(report);
}

CASE("info shows platform, boxes, encodings, policy and state")
{
	UNCORE("info", "-v");
	assert_int_equal(run.status, 0);
	assert_says("platform standin");
	assert_says("uncore_standin_0 on CPU 0: dram.read 0x2, dram.write 0x5, itom 0x6");
	assert_says("The stand-in machine has no such counter.");
	assert_says("max_clients");
	assert_says("sweeps");
	assert_says("refused");
}

CASE("info --json is JSON with the promised keys")
{
	static const char *const keys[] = { "version", "platform", "generation", "sockets",
		"metrics", "missing", "policy", "clients", "refused", "warnings" };
	struct json_object *report;

	UNCORE("info", "--json");
	assert_int_equal(run.status, 0);
	report = json_tokener_parse(run.output);
	assert_non_null(report);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		member(report, keys[i]);
	json_object_put(report);
}

CASE("without a daemon it says what to do")
{
	run_uncore(&run, (const char *const[]){ "info", "--socket", "/tmp/no/such/socket", NULL });
	assert_int_equal(run.status, 1);
	assert_says("Cannot connect to uncored at /tmp/no/such/socket");
	assert_says("systemctl start uncored.socket");
}

int main(void)
{
	return run_on_daemon("standin", NULL);
}

CASE("what uncored cannot print is a failure")
{
	static const char *const options[] = { "--help", "--version" };
	char line[256];

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		FILE *said;

		snprintf(line, sizeof line, "%s/daemon/uncored %s 2>&1 >/dev/full",
			getenv("UNCORE_BUILD_ROOT"), options[i]);
		said = popen(line, "re");
		assert_non_null(said);
		assert_non_null(fgets(line, sizeof line, said));
		assert_string_equal(
			line, "uncored: Cannot write to stdout: No space left on device.\n");
		assert_int_equal(WEXITSTATUS(pclose(said)), 1);
	}
}
