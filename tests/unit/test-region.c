/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions belong to the process, so each case runs in a child of its own, which finds no regions
 * and makes its own connection: every case is a test of that, too.
 */
#include <errno.h>
#include <json-c/json.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/launch.h"
#include "client/uncore.h"
#include "common/macro.h"
#include "tests/test.h"
#include "tests/unit/fake-daemon.h"

enum { CHECKS_FAILED = 99 };

/* In a child cmocka's assertions would jump back into the parent's test; this ends it instead. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s; %s\n", __FILE__, __LINE__, #condition,         \
				uncore_error_text());                                              \
			_exit(CHECKS_FAILED);                                                      \
		}                                                                                  \
	} while (0)

static int wait_for(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Runs @child with a daemon of its own, until exit(). */
static void run_with(const struct fake_options *options, void (*child)(struct fake_daemon *))
{
	struct fake_daemon daemon;
	pid_t pid;

	fake_daemon_start(&daemon, options, 1);
	setenv("UNCORE_SOCKET", daemon.path, 1);
	pid = fork();
	if (pid == 0) {
		child(&daemon);
		_exit(0);
	}
	assert_int_equal(wait_for(pid), 0);
	fake_daemon_stop(&daemon);
	fake_daemon_done(&daemon);
}

static char *path_in(const struct fake_daemon *daemon, const char *name)
{
	char *path;

	CHECK(asprintf(&path, "%s/%s", daemon->directory, name) > 0);
	return path;
}

/* Writes the report, reads it back, removes it. */
static struct json_object *take_report(const struct fake_daemon *daemon)
{
	_cleanup_free_ char *path = path_in(daemon, "report");
	struct json_object *report;

	CHECK(uncore_region_report(path) == 0);
	report = json_object_from_file(path);
	unlink(path);
	CHECK(report);
	return report;
}

/* Follows keys and indexes: "regions", "0", "count". */
#define FIND(object, ...) find(object, (const char *const[]){ __VA_ARGS__, NULL })

static struct json_object *find(struct json_object *object, const char *const keys[])
{
	for (; *keys; keys++) {
		if (json_object_is_type(object, json_type_array))
			object = json_object_array_get_idx(object, strtoul(*keys, NULL, 10));
		else if (!json_object_object_get_ex(object, *keys, &object))
			return NULL;
	}
	return object;
}

static uint64_t number(struct json_object *object)
{
	CHECK(object);
	return json_object_get_uint64(object);
}

static void check_counts(
	struct json_object *report, const char *region, uint64_t count, uint64_t failed)
{
	CHECK(number(FIND(report, "regions", region, "count")) == count);
	CHECK(number(FIND(report, "regions", region, "failed")) == failed);
}

/* --- adding up --- */

static void add_up(struct fake_daemon *daemon)
{
	struct json_object *report, *metrics;

	for (int i = 0; i < 3; i++) {
		CHECK(uncore_region_begin("solve") == 0);
		CHECK(uncore_region_end("solve") == 0);
	}
	report = take_report(daemon);
	check_counts(report, "0", 3, 0);
	CHECK(number(FIND(report, "regions", "0", "window_ns")) > 0);
	CHECK(number(FIND(report, "regions", "0", "sockets", "1", "socket")) == 1);
	metrics = FIND(report, "regions", "0", "sockets", "1", "metrics");
	CHECK(number(FIND(metrics, "dram.write", "bytes")) == 3 * FAKE_STEP * 2 * 2);
	CHECK(json_object_array_length(FIND(metrics, "dram.write", "quality")) == 0);
	CHECK(number(FIND(metrics, "clock", "value")) == 3 * FAKE_STEP * 2 * 3);
	CHECK(!strcmp(json_object_get_string(FIND(metrics, "clock", "unit")), "ns"));
	CHECK(!strcmp(json_object_get_string(FIND(metrics, "itom", "absent")),
		"this machine has no such event"));
	CHECK(!FIND(metrics, "itom", "bytes"));
	json_object_put(report);
}

static void passages_add_up(void **state)
{
	(void)state;
	run_with(NULL, add_up);
}

static void describe_process(struct fake_daemon *daemon)
{
	struct json_object *report;

	setenv("SLURM_PROCID", "0", 1);
	setenv("OMPI_COMM_WORLD_RANK", "17", 1);
	CHECK(uncore_region_begin("a") == 0);
	CHECK(uncore_region_end("a") == 0);
	report = take_report(daemon);
	CHECK(number(FIND(report, "pid")) == (uint64_t)getpid());
	CHECK(number(FIND(report, "rank")) == 17);
	CHECK(json_object_get_string_len(FIND(report, "host")) > 0);
	CHECK(!strcmp(json_object_get_string(FIND(report, "generation")),
		"00000000000000010000000000000007"));
	CHECK(!strcmp(json_object_get_string(FIND(report, "platform")), "standin"));
	CHECK(strstr(json_object_get_string(FIND(report, "note")), "nothing here is memory"));
	CHECK(strstr(json_object_get_string(FIND(report, "note")), "not only this program"));
	json_object_put(report);
}

static void the_report_says_whose_it_is_and_what_it_is_not(void **state)
{
	(void)state;
	run_with(&(struct fake_options){ .platform = "standin" }, describe_process);
}

/* --- nesting and mistakes --- */

static void nest(struct fake_daemon *daemon)
{
	struct json_object *report;

	CHECK(uncore_region_begin("outer") == 0);
	CHECK(uncore_region_begin("inner") == 0);
	CHECK(uncore_region_end("outer") == -EINVAL);
	CHECK(strstr(uncore_error_text(), "inner"));
	CHECK(uncore_region_end("inner") == 0);
	CHECK(uncore_region_begin("outer") == 0); /* in itself */
	CHECK(uncore_region_end("outer") == 0);
	CHECK(uncore_region_end("outer") == 0);
	CHECK(uncore_region_end("outer") == -EINVAL);
	report = take_report(daemon);
	check_counts(report, "0", 2, 0);
	check_counts(report, "1", 1, 0);
	CHECK(!strcmp(json_object_get_string(FIND(report, "regions", "0", "name")), "outer"));
	CHECK(number(FIND(report, "regions", "0", "sockets", "0", "metrics", "dram.read",
		      "bytes")) == (5 + 1) * FAKE_STEP);
	json_object_put(report);
}

static void regions_nest(void **state)
{
	(void)state;
	run_with(NULL, nest);
}

static void misname(struct fake_daemon *daemon)
{
	char name[65];

	(void)daemon;
	memset(name, 'x', 64);
	name[64] = '\0';
	CHECK(uncore_region_begin(NULL) == -EINVAL);
	CHECK(uncore_region_begin("") == -EINVAL);
	CHECK(uncore_region_begin(name) == -EINVAL);
	CHECK(uncore_region_end(name) == -EINVAL);
	name[63] = '\0';
	CHECK(uncore_region_begin(name) == 0);
	CHECK(uncore_region_end(name) == 0);
}

static void bad_names_are_refused(void **state)
{
	(void)state;
	run_with(NULL, misname);
}

static void nest_too_deep(struct fake_daemon *daemon)
{
	struct json_object *report;

	for (int i = 0; i < 32; i++)
		CHECK(uncore_region_begin("deep") == 0);
	CHECK(uncore_region_begin("deeper") == -EOVERFLOW);
	CHECK(uncore_region_begin("deepest") == -EOVERFLOW);
	CHECK(uncore_region_end("deepest") == -EOVERFLOW);
	CHECK(uncore_region_end("deeper") == -EOVERFLOW);
	for (int i = 0; i < 32; i++)
		CHECK(uncore_region_end("deep") == 0);
	CHECK(uncore_region_end("deep") == -EINVAL);
	report = take_report(daemon);
	check_counts(report, "0", 32, 0);
	check_counts(report, "1", 1, 1);
	check_counts(report, "2", 1, 1);
	json_object_put(report);
}

static void too_deep_is_eoverflow_and_counted_as_failed(void **state)
{
	(void)state;
	run_with(NULL, nest_too_deep);
}

/* --- threads and processes --- */

static void *pass_often(void *name)
{
	for (int i = 0; i < 100; i++) {
		CHECK(uncore_region_begin("all") == 0);
		CHECK(uncore_region_begin(name) == 0);
		CHECK(uncore_region_end(name) == 0);
		CHECK(uncore_region_end("all") == 0);
	}
	CHECK(uncore_region_end("main's") == -EINVAL);
	return NULL;
}

/* Where the daemon's own thread runs, since a sanitizer may forbid threads in a forked child. */
static void threads_add_to_one_table(void **state)
{
	static char names[4][8] = { "t0", "t1", "t2", "t3" };
	struct fake_daemon daemon;
	struct json_object *report;
	pthread_t threads[4];

	(void)state;
	fake_daemon_start(&daemon, NULL, 1);
	setenv("UNCORE_SOCKET", daemon.path, 1);
	CHECK(uncore_region_begin("main's") == 0);
	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&threads[i], NULL, pass_often, names[i]) == 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	CHECK(uncore_region_end("main's") == 0);
	report = take_report(&daemon);
	check_counts(report, "0", 1, 0);
	check_counts(report, "1", 400, 0);
	CHECK(json_object_array_length(FIND(report, "regions")) == 6);
	json_object_put(report);
	fake_daemon_stop(&daemon);
	fake_daemon_done(&daemon);
}

static void fork_inside_a_region(struct fake_daemon *daemon)
{
	unsigned n_before;
	struct json_object *report;
	int status;
	pid_t pid;

	CHECK(uncore_region_begin("parent") == 0);
	n_before = 1;
	pid = fork();
	if (pid == 0) {
		CHECK(uncore_region_end("parent") == -EINVAL);
		CHECK(uncore_region_begin("child") == 0);
		CHECK(uncore_region_end("child") == 0);
		report = take_report(daemon);
		CHECK(json_object_array_length(FIND(report, "regions")) == 1);
		check_counts(report, "0", 1, 0);
		CHECK(number(FIND(report, "pid")) == (uint64_t)getpid());
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0 && n_before == 1);
	CHECK(uncore_region_end("parent") == 0);
}

static void a_forked_child_starts_afresh(void **state)
{
	(void)state;
	run_with(NULL, fork_inside_a_region);
}

/* --- failing --- */

static void pass_without_daemon(struct fake_daemon *daemon)
{
	struct json_object *report;

	setenv("UNCORE_SOCKET", "/nonexistent/socket", 1);
	CHECK(uncore_region_begin("a") == -ENOENT);
	CHECK(uncore_region_end("a") == -ENOENT);
	CHECK(uncore_region_begin("a") == -ENOENT);
	CHECK(strstr(uncore_error_text(), "/nonexistent/socket"));
	CHECK(uncore_region_end("a") == -ENOENT);
	report = take_report(daemon);
	check_counts(report, "0", 2, 2);
	CHECK(strstr(json_object_get_string(FIND(report, "failure")), "/nonexistent/socket"));
	CHECK(!FIND(report, "platform"));
	CHECK(json_object_array_length(FIND(report, "regions", "0", "sockets")) == 0);
	json_object_put(report);
}

static void without_a_daemon_there_are_no_figures_but_a_reason(void **state)
{
	(void)state;
	run_with(NULL, pass_without_daemon);
}

/* One region over a restart; its generation afterwards is @generation. */
static void restart_inside_a_region(uint64_t generation, int expected)
{
	struct fake_daemon daemon;

	fake_daemon_start(&daemon, NULL, 1);
	setenv("UNCORE_SOCKET", daemon.path, 1);
	CHECK(uncore_region_begin("over a restart") < 1); /* may find the daemon before it gone */
	uncore_region_end("over a restart");
	CHECK(uncore_region_begin("over a restart") == 0);
	fake_daemon_stop(&daemon);
	fake_daemon_restart(&daemon, generation);
	atomic_store(&daemon.deaf, true);
	usleep(50000);
	for (int i = 0; i < 5; i++) /* the counts went on */
		for (uint32_t s = 0; s < FAKE_SOCKETS; s++)
			fake_daemon_sweep(&daemon, s);
	atomic_store(&daemon.deaf, false);
	CHECK(uncore_region_end("over a restart") == expected);
	CHECK(uncore_region_begin("over a restart") == 0);
	CHECK(uncore_region_end("over a restart") == 0);
	fake_daemon_stop(&daemon);
	fake_daemon_done(&daemon);
}

static void a_restart_with_the_same_generation_loses_nothing(void **state)
{
	(void)state;
	restart_inside_a_region(1, 0);
}

static void a_restart_with_another_generation_is_estale(void **state)
{
	(void)state;
	restart_inside_a_region(2, -ESTALE);
}

/* --- at exit --- */

static void exit_with_report(struct fake_daemon *daemon)
{
	_cleanup_free_ char *template = path_in(daemon, "%h.%p.%r.%%.json");

	setenv("UNCORE_REPORT", template, 1);
	setenv("PMI_RANK", "5", 1);
	CHECK(uncore_region_begin("a") == 0);
	CHECK(uncore_region_end("a") == 0);
	exit(0);
}

static void the_report_goes_to_the_file_that_is_named(void **state)
{
	struct fake_daemon daemon;
	struct json_object *report;
	char host[256], path[512];
	pid_t pid;

	(void)state;
	fake_daemon_start(&daemon, NULL, 1);
	setenv("UNCORE_SOCKET", daemon.path, 1);
	pid = fork();
	if (pid == 0)
		exit_with_report(&daemon);
	assert_int_equal(wait_for(pid), 0);
	gethostname(host, sizeof host);
	snprintf(path, sizeof path, "%s/%s.%d.5.%%.json", daemon.directory, host, (int)pid);
	report = json_object_from_file(path);
	assert_non_null(report);
	json_object_put(report);
	unlink(path);
	fake_daemon_stop(&daemon);
	fake_daemon_done(&daemon);
}

static void exit_with_table(struct fake_daemon *daemon)
{
	_cleanup_free_ char *path = path_in(daemon, "table");

	CHECK(freopen(path, "we", stderr));
	CHECK(uncore_region_begin("solve") == 0);
	CHECK(uncore_region_end("solve") == 0);
	exit(0);
}

static void the_report_is_a_table_on_stderr(void **state)
{
	struct fake_daemon daemon;
	char path[128], text[8192];
	FILE *file;
	pid_t pid;

	(void)state;
	fake_daemon_start(&daemon, &(struct fake_options){ .platform = "standin" }, 1);
	setenv("UNCORE_SOCKET", daemon.path, 1);
	pid = fork();
	if (pid == 0)
		exit_with_table(&daemon);
	assert_int_equal(wait_for(pid), 0);
	snprintf(path, sizeof path, "%s/table", daemon.directory);
	file = fopen(path, "re");
	assert_non_null(file);
	text[fread(text, 1, sizeof text - 1, file)] = '\0';
	fclose(file);
	unlink(path);
	assert_non_null(strstr(text, "region solve: 1 passage"));
	assert_non_null(strstr(text, "2,000 bytes"));
	assert_non_null(strstr(text, "absent: itom (this machine has no such event)"));
	assert_non_null(strstr(text, "not only this program"));
	assert_non_null(strstr(text, "nothing here is memory traffic"));
	fake_daemon_stop(&daemon);
	fake_daemon_done(&daemon);
}

static void a_report_that_cannot_be_written_says_why(void **state)
{
	(void)state;
	assert_int_equal(uncore_region_report("/nonexistent/report"), -ENOENT);
	assert_non_null(strstr(uncore_error_text(), "/nonexistent/report"));
	assert_int_equal(uncore_region_report("/tmp/%x"), -EINVAL);
	assert_int_equal(uncore_region_report("/tmp/%"), -EINVAL);
}

static void the_launchers_own_rank_comes_before_the_batch_systems(void **state)
{
	static const char *const variables[] = { "SLURM_PROCID", "FLUX_TASK_RANK", "PALS_RANKID",
		"PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK", "OMPI_COMM_WORLD_RANK" };
	char text[4] = "1";

	(void)state;
	assert_int_equal(launch_rank(), -1);
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		setenv(variables[i], "../evil", 1);
		assert_int_equal(launch_rank(), i ? (int)i : -1);
		text[0] = (char)('1' + i);
		setenv(variables[i], text, 1);
		assert_int_equal(launch_rank(), (int)i + 1);
	}
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		unsetenv(variables[i]);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		CASE("passages add up", passages_add_up),
		CASE("the report says whose it is, and what it is not",
			the_report_says_whose_it_is_and_what_it_is_not),
		CASE("regions nest", regions_nest),
		CASE("bad names are refused", bad_names_are_refused),
		CASE("too deep is EOVERFLOW and counted as failed",
			too_deep_is_eoverflow_and_counted_as_failed),
		CASE("a forked child starts afresh", a_forked_child_starts_afresh),
		CASE("without a daemon there are no figures, but a reason",
			without_a_daemon_there_are_no_figures_but_a_reason),
		CASE("the report goes to the file that is named",
			the_report_goes_to_the_file_that_is_named),
		CASE("the report is a table on stderr", the_report_is_a_table_on_stderr),
		CASE("the launcher's own rank comes before the batch system's",
			the_launchers_own_rank_comes_before_the_batch_systems),
		/* From here on this process has regions, and a connection that stays. */
		cmocka_unit_test(threads_add_to_one_table),
		CASE("a restart with the same generation loses nothing",
			a_restart_with_the_same_generation_loses_nothing),
		CASE("a restart with another generation is ESTALE",
			a_restart_with_another_generation_is_estale),
		CASE("a report that cannot be written says why",
			a_report_that_cannot_be_written_says_why),
	};
	int n_failed = cmocka_run_group_tests_name("region", cases, NULL, NULL);

	fflush(NULL);
	_exit(n_failed ? 1 : 0); /* without the report of this process */
}
