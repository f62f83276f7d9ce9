/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What threads count by region for UNCORE_MISSES. Page faults stand in for misses of a cache, which
 * not every machine can count: their number is known.
 */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "client/region/counter.h"
#include "tests/unit/region/region-case.h"

enum { THREADS = 4 };

/* A few pages of code, stacks and tables fault besides, and many of a sanitizer's. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { BESIDES = 390 };
#else
enum { BESIDES = 40 };
#endif

/* Pages of new memory, each of which faults once, if no sanitizer has a shadow of it. */
__attribute__((no_sanitize_address, no_sanitize_thread)) static void touch(size_t n_pages)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), bytes = n_pages * page_bytes;
	char *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED);
	CHECK(madvise(memory, bytes, MADV_NOHUGEPAGE) == 0 || errno == EINVAL);
	for (size_t i = 0; i < bytes; i += page_bytes)
		((volatile char *)memory)[i] = 1;
	munmap(memory, bytes);
}

static void pass(const char *name, size_t n_pages)
{
	CHECK(uncore_region_begin(name) == 0);
	touch(n_pages);
	CHECK(uncore_region_end(name) == 0);
}

static void check_about(struct json_object *report, const char *region, uint64_t low)
{
	struct json_object *misses = FIND(find_region(report, region), "misses");
	const uint64_t n = number(FIND(misses, "count"));

	CHECK(!strcmp(json_object_get_string(FIND(misses, "event")), "page-faults"));
	CHECK(!FIND(misses, "absent"));
	if (n < low || n > low + BESIDES)
		fprintf(stderr, "%s: %llu, not %llu\n", region, (unsigned long long)n,
			(unsigned long long)low);
	CHECK(n >= low && n <= low + BESIDES);
}

static void check_absent(struct json_object *report, const char *region, const char *part)
{
	struct json_object *misses = FIND(find_region(report, region), "misses");
	struct json_object *absent = FIND(misses, "absent");

	CHECK(absent && !FIND(misses, "count"));
	if (!strstr(json_object_get_string(absent), part))
		fprintf(stderr, "%s\n", json_object_get_string(absent));
	CHECK(strstr(json_object_get_string(absent), part));
}

/* Where kernel.perf_event_paranoid is 3, only root may count. */
static void run_if_allowed(void (*child)(struct fake_daemon *))
{
	struct perf_event_attr faults = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof faults,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.exclude_kernel = 1,
	};
	const int fd = (int)syscall(SYS_perf_event_open, &faults, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		skip();
	close(fd);
	run_with(NULL, child);
}

static void count_faults(void)
{
	setenv("UNCORE_MISSES", "page-faults", 1);
}

/* --- counting --- */

static void count_in_regions(struct fake_daemon *daemon)
{
	struct json_object *report;

	count_faults();
	touch(1000);
	for (int i = 0; i < 3; i++) {
		pass("many", 500);
		touch(300);
		pass("few", 20);
	}
	report = take_report(daemon);
	check_about(report, "many", 1500);
	check_about(report, "few", 60);
	CHECK(number(FIND(report, "cost", "misses_calls")) >= 6);
	CHECK(number(FIND(report, "cost", "misses_ns")) > 0);
	json_object_put(report);
}

CASE("each region has the page faults of its thread, and not those between regions")
{
	run_if_allowed(count_in_regions);
}

static void nest_regions(struct fake_daemon *daemon)
{
	struct json_object *report;

	count_faults();
	CHECK(uncore_region_begin("outer") == 0);
	touch(100);
	pass("inner", 1000);
	touch(200);
	pass("inner", 2000);
	CHECK(uncore_region_begin("first") == 0);
	touch(400);
	CHECK(uncore_region_next("first", "second") == 0);
	touch(800);
	CHECK(uncore_region_end("second") == 0);
	touch(300);
	CHECK(uncore_region_end("outer") == 0);
	report = take_report(daemon);
	check_about(report, "outer", 600);
	check_about(report, "inner", 3000);
	check_about(report, "first", 400);
	check_about(report, "second", 800);
	json_object_put(report);
}

CASE("of nested regions the innermost has them")
{
	run_if_allowed(nest_regions);
}

static unsigned count_descriptors(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Under the thread sanitizer a child of a process with threads cannot start any. */
#ifndef __SANITIZE_THREAD__
static void *pass_in_thread(void *n_pages)
{
	pass("shared", (size_t)n_pages);
	pass("shared", (size_t)n_pages);
	return NULL;
}

static void count_in_threads(struct fake_daemon *daemon)
{
	struct json_object *report;
	pthread_t threads[THREADS];
	unsigned n_before;

	count_faults();
	pass("shared", 10);
	n_before = count_descriptors();
	for (size_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, pass_in_thread, (void *)(100 * (i + 1))) ==
			0);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK(count_descriptors() == n_before);
	report = take_report(daemon);
	check_about(report, "shared", 10 + 2 * 1000);
	json_object_put(report);
}

CASE("threads add up, and leave no descriptor behind")
{
	run_if_allowed(count_in_threads);
}
#endif

/* The parent's event must neither be read nor stay open in the child. */
static void count_after_fork(struct fake_daemon *daemon)
{
	struct json_object *report;
	unsigned n_before;
	pid_t pid;

	count_faults();
	pass("both", 100);
	n_before = count_descriptors();
	CHECK(uncore_region_begin("parents") == 0);
	touch(50);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		touch(5000);
		pass("both", 700);
		CHECK(count_descriptors() <= n_before + 1); /* its own connection */
		_exit(0);
	}
	CHECK(wait_for(pid) == 0);
	CHECK(uncore_region_end("parents") == 0);
	pass("both", 30);
	report = take_report(daemon);
	check_about(report, "both", 830);
	check_about(report, "parents", 50);
	json_object_put(report);
}

CASE("a forked child counts its own")
{
	run_if_allowed(count_after_fork);
}

#ifndef __SANITIZE_THREAD__
static void *end_inside(void *unused)
{
	(void)unused;
	CHECK(uncore_region_begin("left") == 0);
	touch(100);
	CHECK(uncore_region_begin("deep") == 0);
	touch(200);
	return NULL;
}

static void end_threads(struct fake_daemon *daemon)
{
	struct json_object *report;
	pthread_t thread;

	count_faults();
	pass("left", 10);
	pass("deep", 20);
	CHECK(pthread_create(&thread, NULL, end_inside, NULL) == 0);
	pthread_join(thread, NULL);
	report = take_report(daemon);
	check_about(report, "left", 110);
	check_about(report, "deep", 220);
	json_object_put(report);
}

CASE("what a thread counted until it ended inside of a region stays")
{
	run_if_allowed(end_threads);
}
#endif

/* No test has a counter of a CPU. The kernel begins one at the least number, and notes its opposite
 * as the offset. */
CASE("a CPU's counter goes on where it passes zero")
{
	static const unsigned widths[] = { 32, 40, 48, 64 };

	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		const unsigned width = widths[i];
		const uint64_t mask = UINT64_MAX >> (64 - width), half = mask / 2;

		assert_int_equal(counter_sum(half, (0 - half) & mask, width), 0);
		assert_int_equal(counter_sum(half, (7 - half) & mask, width), 7);
		assert_int_equal(counter_sum(half, 0, width), half);
		assert_int_equal(counter_sum(half, 9, width), half + 9);
		assert_int_equal(counter_sum(1000, 9, width), 1009);
	}
}

/* --- not asked for, or asked for wrongly --- */

static void count_nothing(struct fake_daemon *daemon)
{
	struct json_object *report;

	pass("solve", 100);
	report = take_report(daemon);
	CHECK(!FIND(report, "regions", "0", "misses"));
	CHECK(!FIND(report, "cost", "misses_calls"));
	CHECK(!FIND(report, "failure"));
	json_object_put(report);
}

CASE("nothing is counted unless UNCORE_MISSES asks for it")
{
	run_with(NULL, count_nothing);
	setenv("UNCORE_MISSES", "0", 1);
	run_with(NULL, count_nothing);
	unsetenv("UNCORE_MISSES");
}

static void wish_nonsense(struct fake_daemon *daemon)
{
	struct json_object *report;

	pass("solve", 1);
	report = take_report(daemon);
	CHECK(!FIND(report, "regions", "0", "misses"));
	check_failure(report, "UNCORE_MISSES takes 1, page-faults");
	json_object_put(report);
}

CASE("a value that names no event is refused with a sentence")
{
	static const char *const values[] = { "2", "yes", "r", "rxyz", "r1g", "page-fault" };

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		setenv("UNCORE_MISSES", values[i], 1);
		run_with(NULL, wish_nonsense);
	}
	unsetenv("UNCORE_MISSES");
}

/* --- reasons --- */

static void wish_platforms(struct fake_daemon *daemon)
{
	struct json_object *report;

	setenv("UNCORE_MISSES", "1", 1);
	pass("solve", 100);
	report = take_report(daemon);
	CHECK(!FIND(report, "regions", "0", "misses", "event"));
	check_absent(report, "solve",
		"No event is known that counts misses of the last-level cache on knl.");
	json_object_put(report);
}

CASE("a platform without such an event is named")
{
	run_with(&(struct fake_options){ .platform = "knl" }, wish_platforms);
}

static void wish_unknown(struct fake_daemon *daemon)
{
	struct json_object *report;

	setenv("UNCORE_MISSES", "rffffffffffffffff", 1);
	pass("solve", 100);
	report = take_report(daemon);
	check_absent(report, "solve", "count rffffffffffffffff");
	json_object_put(report);
}

#ifndef __SANITIZE_THREAD__
static void wish_without_descriptors(struct fake_daemon *daemon)
{
	const struct rlimit none = { .rlim_cur = 3, .rlim_max = 256 };
	struct rlimit before;
	struct json_object *report;

	count_faults();
	CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
	CHECK(uncore_region_begin("solve") == 0); /* connects, and counts from here on */
	CHECK(uncore_region_end("solve") == 0);
	CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
	{
		pthread_t thread;

		CHECK(pthread_create(&thread, NULL, pass_in_thread, (void *)10) == 0);
		pthread_join(thread, NULL);
	}
	CHECK(setrlimit(RLIMIT_NOFILE,
		      &(struct rlimit){ .rlim_cur = 256, .rlim_max = none.rlim_max }) == 0);
	report = take_report(daemon);
	check_absent(report, "shared", "Too many open files");
	check_about(report, "solve", 0);
	json_object_put(report);
}

CASE("a thread that has no descriptor left does not count")
{
	run_if_allowed(wish_without_descriptors);
}
#endif

static void refuse_events(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { .len = ARRAY_SIZE(filter), .filter = filter };

	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static void count_refused(struct fake_daemon *daemon)
{
	struct json_object *report;

	refuse_events();
	count_faults();
	pass("solve", 100);
	CHECK(strcmp(uncore_error_text(), "") == 0);
	report = take_report(daemon);
	check_absent(
		report, "solve", "The kernel lets no thread count page-faults: Permission denied.");
	check_absent(report, "solve", "kernel.perf_event_paranoid is ");
	CHECK(bytes_of(find_region(report, "solve")) == FAKE_STEP); /* which stay */
	json_object_put(report);
}

CASE("where the kernel refuses, the record says so, and has its bytes")
{
	run_with(NULL, count_refused);
	run_with(NULL, wish_unknown);
}

static void count_spans(struct fake_daemon *daemon)
{
	struct json_object *report;
	uint64_t span;

	count_faults();
	pass("mixed", 10);
	CHECK(uncore_span_begin("mixed", &span) == 0);
	CHECK(uncore_span_end(span) == 0);
	pass("plain", 10);
	report = take_report(daemon);
	check_absent(report, "mixed", "1 of 2 passages were counted. Spans are not");
	check_about(report, "plain", 10);
	json_object_put(report);
}

CASE("a region with spans has no count")
{
	run_if_allowed(count_spans);
}

/* The program takes the event's number for a pipe of its own, from which nothing may be read. */
static void replace_event(struct fake_daemon *daemon)
{
	const char text[64] = "the program's";
	char found[64] = "";
	struct json_object *report;
	int pipes[2], last = -1, event = -1;

	count_faults();
	pass("solve", 10);
	for (int fd = 3; fd < 256; fd++) {
		char path[64], target[64] = "";

		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		if (readlink(path, target, sizeof target - 1) > 0 && strstr(target, "perf_event"))
			event = fd;
		last = fd;
	}
	CHECK(event > 0 && last > 0 && pipe(pipes) == 0 && dup2(pipes[0], event) == event);
	CHECK(write(pipes[1], text, sizeof text) == sizeof text);
	pass("solve", 10);
	CHECK(read(event, found, sizeof found) == sizeof found && !strcmp(found, text));
	report = take_report(daemon);
	check_absent(report, "solve", "The program closed the descriptor");
	json_object_put(report);
}

CASE("a file of the program that has the number of the event is left alone")
{
	run_if_allowed(replace_event);
}
