/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two releases together on the stand-in machine, of which test_compat.py built the other one: its
 * library and command with the daemon of today, the library and command of today with its daemon,
 * its command with the library of today; and either daemon after the other was killed: it goes on,
 * or says that it does not.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/macro.h"
#include "tests/continuity/truth.h"
#include "tests/harness/daemon-process.h"
#include "tests/harness/kernel-count.h"
#include "tests/harness/test.h"

enum { PAGES = 25600, FEW_PAGES = 2000 };

/* Where an end comes from: the folder of the other release in the build tree, or this build. */
enum end { OTHER, HERE };

/* Two releases that meet on a node. */
static const struct pair {
	enum end daemon, library, command;
} pairs[] = {
	{ HERE, OTHER, OTHER }, /* a container brings its own library */
	{ HERE, HERE, OTHER },  /* ... or only its program */
	{ OTHER, HERE, HERE },
};

static struct daemon_process daemon_process;

static const char *release(enum end end)
{
	return end == OTHER ? getenv("UNCORE_TEST_RELEASE") : NULL;
}

static void start(const struct pair *pair, const char *config)
{
	daemon_process = (struct daemon_process){ .release = release(pair->daemon) };
	daemon_start(&daemon_process, "standin", config);
}

static void stop(void)
{
	daemon_stop(&daemon_process);
	daemon_process.pid = 0;
}

static int stop_what_is_left(void **state)
{
	daemon_stop(&daemon_process);
	return 0;
}

static void assert_runs(const struct run *run, int status, const char *words)
{
	if (run->status != status || !strstr(run->output, words))
		fail_msg("exit status %d: %s", run->status, run->output);
}

static void command(struct run *ret, const struct pair *pair, uid_t uid, const char *const words[])
{
	const char *all[ARGUMENTS_MAX] = { "env" };
	char library[512], program[512];
	unsigned n = 3;

	snprintf(library, sizeof library, "LD_LIBRARY_PATH=%s",
		build_path(pair->library == OTHER ? release(OTHER) : "client"));
	snprintf(program, sizeof program, "%s/uncore",
		build_path(pair->command == OTHER ? release(OTHER) : "client"));
	all[1] = library;
	all[2] = program;
	for (; *words; n++) {
		assert_true(n < ARGUMENTS_MAX - 1);
		all[n] = *words++;
	}
	setenv("UNCORE_SOCKET", daemon_process.socket_path, 1);
	run_program(ret, uid, all);
	unsetenv("UNCORE_SOCKET");
}

/* --- figures --- */

/* The bytes of the busy socket in the output of `uncore stat --json`. */
static uint64_t bytes_of(const char *text)
{
	static const char *const keys[] = { "metrics", "dram.read", "bytes" };
	struct json_object *root = json_tokener_parse(text), *at;
	uint64_t bytes;

	assert_non_null(root);
	at = json_object_array_get_idx(
		json_object_object_get(root, "sockets"), standin_sockets() - 1);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		at = json_object_object_get(at, keys[i]);
	bytes = json_object_get_uint64(at);
	json_object_put(root);
	return bytes;
}

CASE("figures are exact, whichever end is of the other release")
{
	_cleanup_free_ char *touch = strdup(build_path("tests/workload/touch-pages"));
	int fd = kernel_open(standin_sockets() - 1);
	char cpu[16];
	const char *const words[] = { "stat", "--json", "--", touch, "25600", cpu, NULL };
	static struct run run;

	snprintf(cpu, sizeof cpu, "%u", standin_sockets() - 1);
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		uint64_t before;

		start(&pairs[i], NULL);
		before = kernel_bytes(fd);
		command(&run, &pairs[i], NOBODY, words);
		assert_runs(&run, 0, "{");
		assert_in_range(bytes_of(strchr(run.output, '{')),
			(uint64_t)PAGES * KERNEL_PAGE_WORTH, kernel_bytes(fd) - before);
		stop();
	}
	close(fd);
}

/* --- other requests --- */

CASE("the state is told, the owner is set, and refusals come with their sentence")
{
	static const struct {
		uid_t uid;
		int status;
		const char *words[4], *text;
	} rows[] = {
		{ SOMEBODY, 0, { "info" }, "standin" },
		{ SOMEBODY, 0, { "info", "--json" }, "standin" },
		{ SOMEBODY, 0, { "info", "--platforms" }, "standin" },
		{ SOMEBODY, 1, { "owner", "65533" }, "Only root may say whose job the node runs" },
		{ 0, 0, { "owner", "65533" }, "" },
		{ SOMEBODY, 0, { "stat", "true" }, "dram.read" },
		{ NOBODY, 125, { "stat", "true" }, "does not own the job that this node runs" },
	};
	static struct run run;

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		start(&pairs[i], "[access]\nowner_only = yes\n");
		command(&run, &pairs[i], 0, (const char *const[]){ "owner", "65533", NULL });
		for (size_t k = 0; k < ARRAY_SIZE(rows); k++) {
			command(&run, &pairs[i], rows[k].uid, rows[k].words);
			assert_runs(&run, rows[k].status, rows[k].text);
		}
		stop();
	}
}

/* --- one after the other --- */

static const char NEW_GENERATION[] = "A new generation begins.";

static struct uncore_sample read_with(const struct uncore *uncore)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;

	assert_int_equal(uncore_read(uncore, 0, UNCORE_FRESH, &sample), 0);
	return sample;
}

static struct uncore_sample read_anew(void)
{
	struct uncore_sample sample;
	struct uncore *uncore;

	assert_int_equal(uncore_open(daemon_process.socket_path, &uncore), 0);
	sample = read_with(uncore);
	uncore_close(uncore);
	return sample;
}

/*
 * Either all totals go on to the last count, also for clients that have the page. Or the daemon
 * says why not, the page is withdrawn, and the library gives no difference.
 */
static void assert_no_silent_mix(
	struct truth *truth, const struct uncore *held, const struct uncore_sample *before)
{
	struct uncore_sample after = read_anew(), cached = UNCORE_SAMPLE_INIT;
	struct uncore_delta delta = UNCORE_DELTA_INIT;
	int r = uncore_read(held, 0, UNCORE_CACHED, &cached);

	if (!memcmp(before->generation, after.generation, sizeof after.generation)) {
		assert_int_equal(r, 0);
		assert_true(cached.sweep >= after.sweep);
		assert_int_equal(uncore_delta(before, &after, &delta), 0);
		assert_true(delta.values[0].count >= (uint64_t)FEW_PAGES * KERNEL_PAGE_WORTH);
	} else {
		assert_int_equal(r, -EACCES);
		assert_int_equal(uncore_delta(before, &after, &delta), -ESTALE);
		assert_true(daemon_logged(&daemon_process, NEW_GENERATION));
		truth_begin(truth, &daemon_process);
	}
	truth_check(truth);
	truth_check(truth);
}

/* Kills the daemon, and starts that of @end. */
static void change_to(enum end end, struct truth *truth)
{
	struct uncore_sample before;
	struct uncore *held;

	assert_int_equal(uncore_open(daemon_process.socket_path, &held), 0);
	pin_to_cpu(0);
	before = read_with(held);
	daemon_kill(&daemon_process);
	touch_pages(FEW_PAGES);
	daemon_process.release = release(end);
	daemon_restart(&daemon_process, "standin");
	assert_no_silent_mix(truth, held, &before);
	uncore_close(held);
}

CASE("upgrading a killed daemon, and taking the upgrade back, mixes no counts silently")
{
	struct truth truth = {};

	daemon_process = (struct daemon_process){ .release = release(OTHER) };
	daemon_start_activated(&daemon_process, "standin", NULL, true);
	truth_begin(&truth, &daemon_process);
	truth_check(&truth);
	for (unsigned i = 0; i < 3; i++) {
		change_to(HERE, &truth);
		change_to(OTHER, &truth);
	}
	stop();
}

int main(void)
{
	return system_tests_can_run() ? run_cases(NULL, stop_what_is_left) : 0;
}
