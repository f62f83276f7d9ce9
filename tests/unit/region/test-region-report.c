/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of regions: when it is written, to where, and as what. */
#include <fcntl.h>

#include "client/launcher/launch.h"
#include "tests/unit/region/region-case.h"

static void work_late(void)
{
	CHECK(uncore_region_begin("late") == 0);
	CHECK(uncore_region_end("late") == 0);
}

static void exit_after_late_work(struct fake_daemon *daemon)
{
	report_to(daemon, "report.%p");
	atexit(work_late); /* ahead of the library's first use */
	CHECK(uncore_region_begin("early") == 0);
	exit(0);
}

/* The report that process @pid left behind. */
static struct json_object *take_report_of(const struct fake_daemon *daemon, pid_t pid)
{
	struct json_object *report;
	char path[256];

	snprintf(path, sizeof path, "%s/report.%d", daemon->directory, (int)pid);
	report = json_object_from_file(path);
	assert_non_null(report);
	unlink(path);
	return report;
}

CASE("the program's own exit handlers are measured")
{
	struct json_object *report;
	struct fake_daemon daemon;

	start_with(&daemon, NULL);
	report = take_report_of(&daemon, run_in_child(&daemon, exit_after_late_work));
	CHECK(bytes_of(find_region(report, "late")) == FAKE_STEP);
	CHECK(number(FIND(find_region(report, "early"), "open")) == 1);
	check_failure(report, "Region early was still open at exit");
	json_object_put(report);
	stop(&daemon);
}

/* ThreadSanitizer and qemu-user let no thread begin in a child of threads. */
#if !defined __SANITIZE_THREAD__ && !defined __powerpc64__

/* --- a thread that is still running at exit --- */

/* Sweeps take SLOW_MS, so that a reading goes on while the other thread does something. */
enum { SLOW_MS = 200, MOMENT_US = 50000 };

static atomic_bool is_inside, ends_first;

static void *pass_through(void *unused)
{
	(void)unused;
	CHECK(uncore_region_begin("late") == 0);
	is_inside = true;
	if (!ends_first)
		usleep(MOMENT_US);
	uncore_region_end("late");
	pause();
	return NULL;
}

static void exit_beside_thread(struct fake_daemon *daemon)
{
	pthread_t thread;

	report_to(daemon, "report.%p");
	CHECK(pthread_create(&thread, NULL, pass_through, NULL) == 0);
	while (!is_inside)
		usleep(1000);
	if (ends_first)
		usleep(MOMENT_US);
	exit(0);
}

static void check_bytes_beside_thread(bool first)
{
	struct json_object *report;
	struct fake_daemon daemon;

	ends_first = first;
	start_with(&daemon, &(struct fake_options){ .sweep_ms = SLOW_MS });
	report = take_report_of(&daemon, run_in_child(&daemon, exit_beside_thread));
	CHECK(bytes_of(find_region(report, "late")) >= FAKE_STEP);
	json_object_put(report);
	stop(&daemon);
}

CASE("no bytes are lost if a thread ends a passage while the process exits")
{
	check_bytes_beside_thread(false);
}

CASE("no bytes are lost if the process exits while a thread ends a passage")
{
	check_bytes_beside_thread(true);
}

#endif

static void exit_with_report(struct fake_daemon *daemon)
{
	report_to(daemon, "%h.%p.%r.%%.json");
	setenv("PMI_RANK", "5", 1);
	CHECK(uncore_region_begin("a") == 0);
	CHECK(uncore_region_end("a") == 0);
	exit(0);
}

CASE("the report goes to the file that is named")
{
	struct fake_daemon daemon;
	struct json_object *report;
	char host[256], path[512];
	pid_t pid;

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
	CHECK(uncore_region_begin("wait") == 0);
	free(take_ptr(path));
	exit(0);
}

/* Runs @child, and reads back the file "table" that it wrote. */
static void run_for(struct fake_daemon *daemon, void (*child)(struct fake_daemon *), char *ret_text,
	size_t size_bytes)
{
	char path[128];
	FILE *file;

	run_in_child(daemon, child);
	snprintf(path, sizeof path, "%s/table", daemon->directory);
	file = fopen(path, "re");
	assert_non_null(file);
	ret_text[fread(ret_text, 1, size_bytes - 1, file)] = '\0';
	fclose(file);
	unlink(path);
}

static void run_for_table(struct fake_daemon *daemon, char *ret_text, size_t size_bytes)
{
	run_for(daemon, exit_with_table, ret_text, size_bytes);
}

CASE("the report is a table on stderr")
{
	struct fake_daemon daemon;
	char text[8192];

	start_with(&daemon, &(struct fake_options){ .platform = "standin" });
	run_for_table(&daemon, text, sizeof text);
	assert_non_null(strstr(text, "\n Regions of test-region-report (pid "));
	assert_non_null(strstr(text, ", platform standin:\n region  passages "));
	assert_non_null(strstr(text, "\n solve          1  "));
	assert_non_null(strstr(text, "  6.00 KB "));
	assert_non_null(strstr(text, "absent: itom (this machine has no such event)"));
	assert_non_null(strstr(text, "\n wait           0  "));
	assert_non_null(strstr(text, "\n   still open or never ended: 1\n"));
	assert_non_null(strstr(text, "Region wait was still open at exit."));
	assert_non_null(strstr(text, "not only this program"));
	assert_non_null(strstr(text, "nothing here is memory traffic"));
	stop(&daemon);
}

static int packets[2];

static void exit_into_packets(struct fake_daemon *daemon)
{
	char name[16];

	(void)daemon;
	CHECK(dup2(packets[1], STDERR_FILENO) == STDERR_FILENO);
	for (unsigned i = 0; i < 22; i++) {
		snprintf(name, sizeof name, "region%u", i);
		CHECK(uncore_region_begin(name) == 0);
		CHECK(uncore_region_end(name) == 0);
	}
	exit(0);
}

/* Such a pipe keeps each write(2) apart, if it is no longer than a page. A sanitizer's writes begin
 * with "==". */
CASE("the table is written by one call")
{
	struct fake_daemon daemon;
	char text[8192] = "";

	assert_int_equal(pipe2(packets, O_CLOEXEC | O_DIRECT), 0);
	start_with(&daemon, NULL);
	run_in_child(&daemon, exit_into_packets);
	close(packets[1]);
	assert_true(read(packets[0], text, sizeof text - 1) > 0);
	assert_non_null(strstr(text, "\n Regions of "));
	assert_non_null(strstr(text, "\n region21 "));
	assert_non_null(strstr(text, "not only this program.\n"));
	while (read(packets[0], text, sizeof text - 1) > 0)
		assert_int_equal(strncmp(text, "==", 2), 0);
	close(packets[0]);
	stop(&daemon);
}

static void fail_often(struct fake_daemon *daemon)
{
	_cleanup_free_ char *path = path_in(daemon, "table");
	char name[16];

	CHECK(freopen(path, "we", stderr));
	for (unsigned i = 0; i < 200; i++) {
		snprintf(name, sizeof name, "region%u", i % 7);
		CHECK(uncore_region_begin(name) == -ENODEV);
		CHECK(uncore_region_end(name) == -ENODEV);
	}
	free(take_ptr(path));
	exit(0);
}

/* Does not count a sanitizer's lines, which begin with "==". */
static unsigned count_lines(char *text)
{
	unsigned n = 0;
	char *rest;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		n += strncmp(line, "==", 2) != 0;
	return n;
}

/* The daemon is asked once, and not again for each region. */
CASE("regions of a daemon that serves nothing cost one line and one question")
{
	struct fake_daemon daemon;
	char text[8192];

	start_with(&daemon, &(struct fake_options){ .refuse = -ENODEV, .refuse_at_once = true });
	run_for(&daemon, fail_often, text, sizeof text);
	assert_non_null(strstr(text, "uncore: Regions of "));
	assert_non_null(strstr(text, " have no figures: uncored at "));
	assert_int_equal(count_lines(text), 1);
	assert_int_equal(daemon.n_accepted, 1);
	stop(&daemon);
}

CASE("a bad name for the report costs no figures")
{
	static const char *const templates[] = { "/tmp/%x", "/nonexistent/report", "report%" };
	struct fake_daemon daemon;
	char text[8192];

	for (size_t i = 0; i < ARRAY_SIZE(templates); i++) {
		start_with(&daemon, NULL);
		setenv("UNCORE_REPORT", templates[i], 1);
		run_for_table(&daemon, text, sizeof text);
		unsetenv("UNCORE_REPORT");
		assert_non_null(strstr(text, "uncore: "));
		assert_non_null(strstr(text, "\n solve          1  "));
		stop(&daemon);
	}
}

static void write_in_vain(struct fake_daemon *daemon)
{
	(void)daemon;
	CHECK(uncore_region_report("/dev/full") == -ENOSPC);
	CHECK(strstr(uncore_error_text(), "/dev/full"));
	CHECK(uncore_region_report("/nonexistent/report") == -ENOENT);
	CHECK(strstr(uncore_error_text(), "/nonexistent/report"));
	CHECK(uncore_region_report("/tmp/%x") == -EINVAL);
	CHECK(uncore_region_report("/tmp/%") == -EINVAL);
}

CASE("a report that cannot be written says why")
{
	run_with(NULL, write_in_vain);
}

CASE("the launcher's own rank comes before the batch system's")
{
	static const char *const variables[] = { "SLURM_PROCID", "FLUX_TASK_RANK", "PALS_RANKID",
		"PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK", "OMPI_COMM_WORLD_RANK" };
	char text[4] = "1";

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

/* Removes newlines and indentation, which only human readers need. No text has a newline in it. */
static void join_lines(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (*from == '\n')
			from += strspn(from + 1, " ");
		else
			*to++ = *from;
	}
	*to = '\0';
}

static void write_all_kinds(struct fake_daemon *daemon)
{
	report_to(daemon, "report.%p");
	setenv("UNCORE_LABEL", "caf\xc3\xa9 \"1\"", 1);
	CHECK(uncore_region_begin("r\xc3\xa9gion \"a\\b\"/c") == 0);
	CHECK(uncore_region_end("r\xc3\xa9gion \"a\\b\"/c") == 0);
	CHECK(uncore_region_begin("open") == 0);
	exit(0);
}

/* Compares the report with the same report written by json-c, numbers and escapes included. */
CASE("another writer would write the same report")
{
	static const char *const keys[] = { "schema", "version", "platform", "generation", "host",
		"job", "step", "begun", "begun_s", "begun_ns", "ended", "ended_s", "ended_ns",
		"failure", "note", "pid", "rank", "team", "run", "label", "command", "expected",
		"not_joined", "members", "cost", "metrics", "regions", "outside" };
	struct json_object_iterator at, end;
	struct fake_daemon daemon;
	struct json_object *report;
	char path[128], text[65536];
	FILE *file;
	size_t n = 0;

	start_with(&daemon, NULL);
	snprintf(path, sizeof path, "%s/report.%d", daemon.directory,
		(int)run_in_child(&daemon, write_all_kinds));
	file = fopen(path, "re");
	assert_non_null(file);
	text[fread(text, 1, sizeof text - 1, file)] = '\0';
	fclose(file);
	unlink(path);
	report = json_tokener_parse(text);
	assert_non_null(report);
	join_lines(text);
	assert_string_equal(text, json_object_to_json_string_ext(report,
					  JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	assert_string_equal(json_object_get_string(FIND(report, "label")), "caf\xc3\xa9 \"1\"");
	end = json_object_iter_end(report);
	for (at = json_object_iter_begin(report); !json_object_iter_equal(&at, &end);
		json_object_iter_next(&at)) {
		assert_true(n < ARRAY_SIZE(keys));
		assert_string_equal(json_object_iter_peek_name(&at), keys[n++]);
	}
	assert_int_equal(n, ARRAY_SIZE(keys));
	json_object_put(report);
	stop(&daemon);
}

int main(void)
{
	int n_failed = run_cases(NULL, NULL);

	fflush(NULL);
	_exit(n_failed ? 1 : 0); /* without the report of this process */
}
