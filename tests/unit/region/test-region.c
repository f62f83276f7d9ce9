/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What regions count, in one thread, in many and over a fork; and what they report when they fail.
 */
#include <glob.h>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>

#include "tests/unit/region/region-case.h"

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

CASE("passages add up")
{
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
	CHECK(strstr(json_object_get_string(FIND(report, "generation")), "0000000000000007"));
	CHECK(!strcmp(json_object_get_string(FIND(report, "platform")), "standin"));
	CHECK(strstr(json_object_get_string(FIND(report, "note")), "nothing here is memory"));
	CHECK(strstr(json_object_get_string(FIND(report, "note")), "not only this program"));
	json_object_put(report);
}

CASE("the report names its process, and says what it does not show")
{
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
	/* Six edges are read. */
	CHECK(bytes_of(find_region(report, "outer")) == 5 * FAKE_STEP);
	CHECK(bytes_of(find_region(report, "inner")) == FAKE_STEP);
	json_object_put(report);
}

CASE("regions nest")
{
	run_with(NULL, nest);
}

static void misname(struct fake_daemon *daemon)
{
	static const char *const not_plain[] = { "a\nb", "\033[2J", "\177", "\xc2\x80", "\xff",
		"\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
		"\xf0\x80\x80\x80", "\x80" };
	static const char *const plain[] = { "a b", "L\xc3\xb6ser", "\xe6\xb1\x82\xe8\xa7\xa3",
		"\xf0\x9f\x8c\x8a", "\xf4\x8f\xbf\xbf", "\xc2\xa0" };
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
	for (size_t i = 0; i < ARRAY_SIZE(not_plain); i++) {
		CHECK(uncore_region_begin(not_plain[i]) == -EINVAL);
		CHECK(strstr(uncore_error_text(), "UTF-8"));
	}
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
		CHECK(uncore_region_begin(plain[i]) == 0);
		CHECK(uncore_region_end(plain[i]) == 0);
	}
}

CASE("bad names are refused")
{
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

CASE("too deep is EOVERFLOW and counted as failed")
{
	run_with(NULL, nest_too_deep);
}

/* --- phases and spans --- */

static void go_through_phases(struct fake_daemon *daemon)
{
	struct json_object *report;

	CHECK(uncore_region_begin("read") == 0);
	CHECK(uncore_region_next("write", "read") == -EINVAL);
	CHECK(uncore_region_next("read", "solve") == 0);
	CHECK(uncore_region_next("solve", "write") == 0);
	CHECK(uncore_region_end("write") == 0);
	report = take_report(daemon);
	CHECK(number(FIND(report, "cost", "reading_calls")) == 4);
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = { "read", "solve", "write" };
		struct json_object *region = find_region(report, names[i]);

		CHECK(number(FIND(region, "count")) == 1);
		CHECK(bytes_of(region) == FAKE_STEP);
	}
	json_object_put(report);
}

CASE("one reading is taken from one phase to the next")
{
	run_with(NULL, go_through_phases);
}

static void *end_span(void *span)
{
	CHECK(uncore_span_end(*(uint64_t *)span) == 0);
	return NULL;
}

static void pass_spans(struct fake_daemon *daemon)
{
	struct json_object *report, *region;
	uint64_t first, second;

	CHECK(uncore_region_begin("loop") == 0);
	CHECK(uncore_span_begin("send", &first) == 0);
	CHECK(uncore_span_begin("send", &second) == 0);
	CHECK(uncore_region_end("loop") == 0); /* spans are in no stack */
	CHECK(first != second);
	CHECK(uncore_span_end(first) == 0);
	CHECK(uncore_span_end(first) == -EINVAL);
#ifdef __SANITIZE_THREAD__ /* it lets no thread begin in a child of threads */
	end_span(&second);
#else
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, end_span, &second) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
#endif
	CHECK(uncore_span_begin("", &second) == -EINVAL && second == 0);
	CHECK(uncore_span_end(second) == -EINVAL);
	report = take_report(daemon);
	region = find_region(report, "send");
	CHECK(number(FIND(region, "count")) == 2);
	CHECK(number(FIND(region, "open")) == 0);
	json_object_put(report);
}

CASE("a span ends in any thread")
{
	run_with(NULL, pass_spans);
}

static void open_many_spans(struct fake_daemon *daemon)
{
	enum { MOST = 65536 };
	static uint64_t spans[MOST];
	struct json_object *report;
	uint64_t one_more;

	for (int i = 0; i < MOST; i++)
		CHECK(uncore_span_begin("isend", &spans[i]) == 0);
	CHECK(uncore_span_begin("isend", &one_more) == -ENOSPC && one_more == 0);
	for (int i = 0; i < MOST; i++)
		CHECK(uncore_span_end(spans[i]) == 0);
	CHECK(uncore_span_begin("isend", &one_more) == 0);
	CHECK(uncore_span_end(one_more) == 0);
	report = take_report(daemon);
	check_counts(report, "0", MOST + 1, 0);
	json_object_put(report);
}

CASE("the number of open spans is bounded")
{
	run_with(NULL, open_many_spans);
}

/* --- losses leave a trace --- */

static void mismatch(struct fake_daemon *daemon)
{
	struct json_object *report;

	CHECK(uncore_region_begin("outer") == 0);
	CHECK(uncore_region_begin("inner") == 0);
	CHECK(uncore_region_end("outer") == -EINVAL);
	report = take_report(daemon);
	check_failure(report, "Region outer cannot end: inner");
	CHECK(number(FIND(find_region(report, "outer"), "open")) == 1);
	CHECK(number(FIND(find_region(report, "inner"), "open")) == 1);
	check_counts(report, "0", 0, 0);
	json_object_put(report);
	CHECK(uncore_region_end("inner") == 0);
	report = take_report(daemon);
	CHECK(number(FIND(find_region(report, "inner"), "open")) == 0);
	json_object_put(report);
}

CASE("a mismatched end is in the report")
{
	run_with(NULL, mismatch);
}

static void overflow(struct fake_daemon *daemon)
{
	struct json_object *report;

	for (int i = 0; i < 32; i++)
		CHECK(uncore_region_begin("deep") == 0);
	CHECK(uncore_region_begin("deeper") == -EOVERFLOW);
	report = take_report(daemon);
	check_failure(report, "Region deeper is nested deeper than 32");
	check_counts(report, "1", 1, 1);
	CHECK(number(FIND(find_region(report, "deep"), "open")) == 32);
	json_object_put(report);
}

CASE("an overflow is in the report")
{
	run_with(NULL, overflow);
}

static void fail_to_begin(struct fake_daemon *daemon)
{
	char sentence[1024];

	(void)daemon;
	setenv("UNCORE_SOCKET", "/nonexistent/socket", 1);
	CHECK(uncore_region_begin("a") == -ENOENT);
	snprintf(sentence, sizeof sentence, "%s", uncore_error_text());
	CHECK(uncore_region_end("b") == -EINVAL);
	CHECK(uncore_region_begin("a") == -ENOENT); /* in itself */
	CHECK(!strcmp(uncore_error_text(), sentence));
	CHECK(uncore_region_end("a") == -ENOENT);
	CHECK(uncore_region_end("b") == -EINVAL);
	CHECK(uncore_region_end("a") == -ENOENT);
	CHECK(!strcmp(uncore_error_text(), sentence));
	CHECK(uncore_region_begin("c") == -ENOENT); /* not tried again so soon */
	CHECK(!strcmp(uncore_error_text(), sentence));
}

CASE("an end repeats the sentence of its begin")
{
	run_with(NULL, fail_to_begin);
}

/* --- processes --- */

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
		CHECK(number(FIND(report, "regions", "0", "open")) == 1);
		check_counts(report, "1", 1, 0);
		CHECK(json_object_array_length(FIND(report, "members")) == 2);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0 && n_before == 1);
	CHECK(uncore_region_end("parent") == 0);
	report = take_report(daemon);
	check_counts(report, "0", 1, 0);
	check_counts(report, "1", 1, 0);
	CHECK(number(FIND(report, "regions", "0", "died")) == 0);
	json_object_put(report);
}

CASE("a forked child shares its parent's table, and nothing else")
{
	run_with(NULL, fork_inside_a_region);
}

static struct fake_daemon larger_daemon;

static void fork_to_a_larger_machine(struct fake_daemon *daemon)
{
	int status;
	pid_t pid;

	(void)daemon;
	CHECK(uncore_region_begin("a") == 0);
	CHECK(uncore_region_end("a") == 0);
	pid = fork();
	if (pid == 0) {
		setenv("UNCORE_SOCKET", larger_daemon.path, 1);
		CHECK(uncore_region_begin("b") == -ESTALE);
		CHECK(uncore_region_end("b") == -ESTALE);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

CASE("a forked child may meet more sockets")
{
	fake_daemon_start(&larger_daemon, NULL, 1);
	run_with(&(struct fake_options){ .n_sockets = 1 }, fork_to_a_larger_machine);
	stop(&larger_daemon);
}

/* The one that ends last reports for both; under ASan the child's leaks would be found there, too.
 */
static void fork_and_exit(struct fake_daemon *daemon)
{
	int status;
	pid_t pid;

	report_to(daemon, "report");
	CHECK(uncore_region_begin("parent") == 0);
	pid = fork();
	CHECK(uncore_region_begin("both") == 0);
	CHECK(uncore_region_end("both") == 0);
	if (pid)
		CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	exit(0);
}

/* No descriptor of the parent's table is left. */
static void close_and_fork(struct fake_daemon *daemon)
{
	report_to(daemon, "report");
	CHECK(uncore_region_begin("parent") == 0);
	for (int fd = 3; fd < 64; fd++)
		close(fd);
	fork_and_exit(daemon);
}

/* A limit of the sizes of files, which a table is above. */
static void limit_and_fork(struct fake_daemon *daemon)
{
	const struct rlimit small = { 1 << 20, 1 << 20 };

	CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
	fork_and_exit(daemon);
}

static struct json_object *take_file(const struct fake_daemon *daemon, const char *pattern)
{
	char path[256];
	struct json_object *report;
	glob_t found;

	snprintf(path, sizeof path, "%s/%s", daemon->directory, pattern);
	assert_int_equal(glob(path, 0, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, 1);
	report = json_object_from_file(found.gl_pathv[0]);
	assert_non_null(report);
	unlink(found.gl_pathv[0]);
	globfree(&found);
	return report;
}

static void check_members(const struct fake_daemon *daemon, const char *pattern, size_t n)
{
	struct json_object *report = take_file(daemon, pattern);

	assert_int_equal(json_object_array_length(FIND(report, "members")), n);
	assert_int_equal(number(FIND(find_region(report, "both"), "count")), n);
	json_object_put(report);
}

CASE("a forked child is in its parent's report")
{
	struct fake_daemon daemon;

	start_with(&daemon, NULL);
	run_in_child(&daemon, fork_and_exit);
	check_members(&daemon, "report.*", 2);
	stop(&daemon);
}

static void without_a_shared_table_each_reports(void (*child)(struct fake_daemon *))
{
	struct fake_daemon daemon;
	char pattern[32];
	pid_t pid;

	start_with(&daemon, NULL);
	pid = run_in_child(&daemon, child);
	snprintf(pattern, sizeof pattern, "report.%d", (int)pid);
	check_members(&daemon, pattern, 1);
	check_members(&daemon, "report.*", 1);
	stop(&daemon);
}

CASE("... but has a report of its own if the table is closed")
{
	without_a_shared_table_each_reports(close_and_fork);
}

CASE("... or if a limit of file sizes forbids to share it")
{
	without_a_shared_table_each_reports(limit_and_fork);
}

/* --- failing --- */

static void be_withdrawn(struct fake_daemon *daemon)
{
	struct json_object *report;

	CHECK(uncore_region_begin("a") == 0); /* the last sweeps of the page */
	usleep(50000);                        /* until it is replaced */
	CHECK(uncore_region_end("a") == 0);
	report = take_report(daemon);
	CHECK(bytes_of(find_region(report, "a")) == FAKE_STEP);
	json_object_put(report);
}

CASE("a page that was withdrawn is replaced")
{
	run_with(&(struct fake_options){ .retire_after = FAKE_SOCKETS }, be_withdrawn);
}

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

CASE("without a daemon there are no figures, but a reason")
{
	run_with(NULL, pass_without_daemon);
}

static void be_hung_up_on(struct fake_daemon *daemon)
{
	(void)daemon;
	CHECK(uncore_region_begin("a") == 0);
	CHECK(uncore_region_end("a") == 0);
}

/* uncored ended between connect and welcome; its socket is systemd's, and the next one listens. */
CASE("a connection that was reset is tried again at once")
{
	run_with(&(struct fake_options){ .hang_up_once = true }, be_hung_up_on);
}

/* --- threads: from here on this process has regions, and a connection that stays --- */

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

/*
 * Runs in the process of the daemon's thread, because a sanitizer may forbid threads in a forked
 * child.
 */
CASE_WITHIN("threads add to one table", NULL, NULL)
{
	static char names[4][8] = { "t0", "t1", "t2", "t3" };
	struct fake_daemon daemon;
	struct json_object *report;
	pthread_t threads[4];

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

static pthread_barrier_t meeting;

static void *stay_inside(void *unused)
{
	CHECK(uncore_region_begin("shared") == 0);
	pthread_barrier_wait(&meeting);
	pthread_barrier_wait(&meeting);
	CHECK(uncore_region_end("shared") == 0);
	return unused;
}

CASE("passages that overlap are counted once")
{
	struct json_object *report, *region;
	struct fake_daemon daemon;
	unsigned n_sweeps;
	pthread_t thread;

	start_with(&daemon, NULL);
	pthread_barrier_init(&meeting, NULL, 2);
	CHECK(pthread_create(&thread, NULL, stay_inside, NULL) == 0);
	pthread_barrier_wait(&meeting);
	n_sweeps = atomic_load(&daemon.sweeps);
	for (int i = 0; i < 3; i++) {
		CHECK(uncore_region_begin("shared") == 0);
		usleep(2000);
		if (i < 2)
			CHECK(uncore_region_end("shared") == 0);
	}
	pthread_barrier_wait(&meeting);
	pthread_join(thread, NULL);
	CHECK(uncore_region_end("shared") == 0);
	n_sweeps = atomic_load(&daemon.sweeps) - n_sweeps;
	report = take_report(&daemon);
	region = find_region(report, "shared");
	CHECK(number(FIND(region, "count")) == 4);
	CHECK(bytes_of(region) == n_sweeps / FAKE_SOCKETS * FAKE_STEP);
	/* Both were inside at the same time: together longer than the window. */
	CHECK(number(FIND(region, "time_ns")) >= 8000000);
	CHECK(number(FIND(region, "window_ns")) < number(FIND(region, "time_ns")));
	json_object_put(report);
	pthread_barrier_destroy(&meeting);
	stop(&daemon);
}

static void *leave_open(void *unused)
{
	CHECK(uncore_region_begin("left open") == 0);
	return unused;
}

CASE("a thread that ends inside a region is reported")
{
	struct json_object *report, *region;
	struct fake_daemon daemon;
	pthread_t thread;

	start_with(&daemon, NULL);
	CHECK(uncore_region_begin("settle") < 1); /* may find the daemon before it gone */
	uncore_region_end("settle");
	CHECK(pthread_create(&thread, NULL, leave_open, NULL) == 0);
	pthread_join(thread, NULL);
	report = take_report(&daemon);
	check_failure(report, "A thread ended inside region left open");
	region = find_region(report, "left open");
	CHECK(number(FIND(region, "open")) == 1);
	CHECK(number(FIND(region, "count")) == 0);
	json_object_put(report);
	/* It keeps nobody from using the region. */
	CHECK(uncore_region_begin("left open") == 0);
	CHECK(uncore_region_end("left open") == 0);
	report = take_report(&daemon);
	region = find_region(report, "left open");
	CHECK(number(FIND(region, "open")) == 1);
	CHECK(number(FIND(region, "count")) == 1);
	CHECK(bytes_of(region) == 2 * FAKE_STEP); /* the first until the thread ended */
	json_object_put(report);
	stop(&daemon);
}

static atomic_int n_survived;

/* The first call that may be interrupted would end the thread. */
static void *pass_cancelled(void *unused)
{
	uint64_t span;

	pthread_cancel(pthread_self());
	CHECK(uncore_region_begin("cancelled") == 0);
	CHECK(uncore_span_begin("cancelled span", &span) == 0);
	CHECK(uncore_span_end(span) == 0);
	CHECK(uncore_region_end("cancelled") == 0);
	atomic_fetch_add(&n_survived, 1);
	pthread_testcancel();
	atomic_fetch_add(&n_survived, 100);
	return unused;
}

CASE("a thread is not cancelled inside the library, but behind it")
{
	struct json_object *report, *region;
	struct fake_daemon daemon;
	pthread_t thread;
	void *result;

	start_with(&daemon, NULL);
	CHECK(uncore_region_begin("settle") < 1); /* may find the daemon before it gone */
	uncore_region_end("settle");
	for (int i = 0; i < 3; i++) {
		CHECK(pthread_create(&thread, NULL, pass_cancelled, NULL) == 0);
		pthread_join(thread, &result);
		CHECK(result == PTHREAD_CANCELED);
	}
	CHECK(atomic_load(&n_survived) == 3);
	report = take_report(&daemon);
	region = find_region(report, "cancelled");
	CHECK(number(FIND(region, "count")) == 3);
	CHECK(number(FIND(region, "failed")) == 0);
	json_object_put(report);
	stop(&daemon);
}

static bool was_rung(const struct fake_daemon *daemon)
{
	struct pollfd doorbell = { .fd = daemon->doorbells[0], .events = POLLIN };
	uint64_t n;

	return poll(&doorbell, 1, 0) == 1 && read(doorbell.fd, &n, sizeof n) == sizeof n;
}

/* One region over a restart; then the generation is @generation, and each answer takes @delay_ms.
 */
static void restart_inside_a_region(uint64_t generation, unsigned delay_ms, int expected)
{
	struct fake_daemon daemon;

	fake_daemon_start(&daemon, NULL, 1);
	setenv("UNCORE_SOCKET", daemon.path, 1);
	CHECK(uncore_region_begin("over a restart") < 1); /* may find the daemon before it gone */
	uncore_region_end("over a restart");
	CHECK(uncore_region_begin("over a restart") == 0);
	fake_daemon_stop(&daemon);
	daemon.options.delay_ms = delay_ms;
	fake_daemon_restart(&daemon, generation);
	fake_daemon_deafen(&daemon);
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

CASE("a restart with the same generation loses nothing")
{
	restart_inside_a_region(1, 0, 0);
}

/* An uncored that was restarted on a busy machine may need more than the usual second. */
CASE("a restart may take seconds")
{
	restart_inside_a_region(1, 1500, 0);
}

CASE("a restart with another generation is ESTALE")
{
	restart_inside_a_region(2, 0, -ESTALE);
}

static void fail_for_want_of_an_answer(struct fake_daemon *daemon)
{
	CHECK(uncore_region_begin("a") == -ETIMEDOUT);
	CHECK(was_rung(daemon));
	for (unsigned i = 0; i < 1000; i++) {
		CHECK(uncore_region_end("a") == -ETIMEDOUT);
		CHECK(strstr(uncore_error_text(), "did not read socket 0 within 2000 ms"));
		CHECK(uncore_region_begin("a") == -ETIMEDOUT);
	}
	CHECK(!was_rung(daemon));
	CHECK(uncore_region_end("a") == -ETIMEDOUT);
}

CASE("a reader that stands still holds a program up once in ten seconds")
{
	struct fake_daemon daemon;
	int r = -ETIMEDOUT;

	start_with(&daemon, NULL);
	uncore_region_begin("before"); /* may find the daemon before it gone */
	uncore_region_end("before");
	CHECK(uncore_region_begin("before") == 0);
	CHECK(uncore_region_end("before") == 0);
	fake_daemon_deafen(&daemon);
	fail_for_want_of_an_answer(&daemon);
	atomic_store(&daemon.deaf, false);
	while (r == -ETIMEDOUT) {
		usleep(100000);
		r = uncore_region_begin("a");
		CHECK(uncore_region_end("a") == r);
	}
	CHECK(r == 0);
	stop(&daemon);
}

static atomic_bool all_replaced;

/* Errors of a passage during which the daemon ended. */
static bool may_be_lost(int r)
{
	return r == -ENOTCONN || r == -ECONNRESET || r == -ESTALE;
}

static void pass_or_lose(const char *name)
{
	int r = uncore_region_begin(name);

	CHECK(r == 0 || may_be_lost(r));
	r = uncore_region_end(name);
	CHECK(r == 0 || may_be_lost(r));
}

static void *pass_until_all_replaced(void *name)
{
	uintptr_t n = 0;

	for (; !atomic_load(&all_replaced); n++) {
		pass_or_lose("everybody's");
		pass_or_lose(name);
	}
	return (void *)n;
}

/* A name of the socket that always leads to some daemon. */
static void lead_to(const struct fake_daemon *daemon, const char *name)
{
	char next[64];

	snprintf(next, sizeof next, "%s.next", name);
	CHECK(symlink(daemon->path, next) == 0);
	CHECK(rename(next, name) == 0);
}

CASE("threads pass while uncored is replaced")
{
	enum { REPLACEMENTS = 20 };
	static char names[4][8] = { "r0", "r1", "r2", "r3" };
	char directory[] = "/tmp/uncore-test-XXXXXX", name[48];
	struct fake_daemon daemons[2];
	struct json_object *report;
	pthread_t threads[4];
	uint64_t n_passed = 0;

	CHECK(mkdtemp(directory));
	snprintf(name, sizeof name, "%s/socket", directory);
	setenv("UNCORE_SOCKET", name, 1);
	fake_daemon_start(&daemons[0], NULL, 100);
	lead_to(&daemons[0], name);
	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&threads[i], NULL, pass_until_all_replaced, names[i]) == 0);
	for (int i = 1; i <= REPLACEMENTS; i++) {
		struct fake_daemon *old = &daemons[(i - 1) % 2], *new = &daemons[i % 2];

		fake_daemon_start(new, NULL, 100 + i);
		lead_to(new, name);
		stop(old);
		json_object_put(take_report(new)); /* while they go on */
		usleep(2000);
	}
	atomic_store(&all_replaced, true);
	for (int i = 0; i < 4; i++) {
		void *n;

		pthread_join(threads[i], &n);
		n_passed += (uintptr_t)n;
	}
	report = take_report(&daemons[REPLACEMENTS % 2]);
	CHECK(number(FIND(find_region(report, "everybody's"), "count")) == n_passed);
	CHECK(bytes_of(find_region(report, "everybody's")) > 0);
	json_object_put(report);
	CHECK(uncore_region_begin("afterwards") == 0);
	CHECK(uncore_region_end("afterwards") == 0);
	stop(&daemons[REPLACEMENTS % 2]);
	unlink(name);
	rmdir(directory);
}

int main(void)
{
	setenv("UNCORE_OVERHEAD", "0", 1); /* each edge is read */
	int n_failed = run_cases(NULL, NULL);

	fflush(NULL);
	_exit(n_failed ? 1 : 0); /* without the report of this process */
}
