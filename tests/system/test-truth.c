/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Known truth on the stand-in machine: a program that touches N new pages on a CPU makes N page
 * faults there, and an unprivileged client must see N x 4096 bytes on that CPU's socket. It also
 * sees the pages that other programs touch meanwhile, as many as the kernel counts.
 */
#include "tests/harness/daemon-process.h"
#include "tests/harness/kernel-count.h"
#include "tests/harness/test.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"

enum { PAGES = 25600 };

static const uint64_t TRUTH = (uint64_t)PAGES * KERNEL_PAGE_WORTH; /* 104,857,600 */

/* What the kernel has counted of each socket around two readings; a child writes it, too. */
static struct noted {
	struct kernel_bounds begin[KERNEL_SOCKETS_MAX], end[KERNEL_SOCKETS_MAX];
} * noted;

static int kernel[KERNEL_SOCKETS_MAX];

static void open_kernel(void)
{
	for (unsigned s = 0; s < standin_sockets(); s++)
		kernel[s] = kernel_open(s);
}

static void close_kernel(void)
{
	for (unsigned s = 0; s < standin_sockets(); s++)
		close(kernel[s]);
}

static void note_before(struct kernel_bounds bounds[])
{
	for (unsigned s = 0; s < standin_sockets(); s++)
		bounds[s].before = kernel_bytes(kernel[s]);
}

static void note_after(struct kernel_bounds bounds[])
{
	for (unsigned s = 0; s < standin_sockets(); s++)
		bounds[s].after = kernel_bytes(kernel[s]);
}

static int complain(const char *what, uint64_t value)
{
	printf("# %s: %" PRIu64 "\n", what, value);
	fflush(stdout);
	return 1;
}

/* The last socket and the last CPU: the traffic is made on that CPU, and shows on that socket. */
static unsigned busy_socket(void)
{
	return standin_sockets() - 1;
}

/* --- as nobody --- */

static int read_all(
	const struct uncore *uncore, struct uncore_sample samples[], struct kernel_bounds bounds[])
{
	int r;

	note_before(bounds);
	r = uncore_read_all(uncore, UNCORE_FRESH, samples, KERNEL_SOCKETS_MAX);
	note_after(bounds);
	return r;
}

static bool is_true(unsigned socket, uint64_t bytes)
{
	return kernel_permits(bytes, &noted->begin[socket], &noted->end[socket]) &&
	       (socket != busy_socket() || bytes >= TRUTH);
}

static int read_around_work(void *argument)
{
	struct uncore_sample before[2] = { UNCORE_SAMPLE_INIT, UNCORE_SAMPLE_INIT };
	struct uncore_sample after[2] = { UNCORE_SAMPLE_INIT, UNCORE_SAMPLE_INIT };
	struct uncore_delta delta = UNCORE_DELTA_INIT;
	struct uncore *uncore;
	int metric;

	if (uncore_open(the_daemon.socket_path, &uncore) < 0)
		return complain(uncore_error_text(), 0);
	metric = uncore_find_metric(uncore, "dram.read");
	pin_to_cpu((int)busy_socket());
	if (read_all(uncore, before, noted->begin) < 0)
		return complain(uncore_error_text(), 0);
	touch_pages(PAGES);
	if (read_all(uncore, after, noted->end) < 0)
		return complain(uncore_error_text(), 0);
	for (unsigned s = 0; s < standin_sockets(); s++) {
		if (uncore_delta(&before[s], &after[s], &delta) < 0)
			return complain(uncore_error_text(), 0);
		if (!is_true(s, delta.values[metric].count))
			return complain("bytes on socket", s);
		if (!(delta.values[metric].quality & UNCORE_STANDIN))
			return complain("not said to be a stand-in", delta.values[metric].quality);
	}
	uncore_close(uncore);
	return 0;
}

CASE("a delta of two fresh reads shows the pages that were touched, on their socket")
{
	open_kernel();
	assert_int_equal(as_nobody(read_around_work, NULL), 0);
	close_kernel();
}

/* The clock metric counts ns, so its delta must equal the window within the skew. */
static int compare_clock(void *argument)
{
	struct uncore_sample before = UNCORE_SAMPLE_INIT, after = UNCORE_SAMPLE_INIT;
	struct uncore_delta delta = UNCORE_DELTA_INIT;
	struct uncore *uncore;
	double off_ns;
	int metric;

	if (uncore_open(the_daemon.socket_path, &uncore) < 0)
		return complain(uncore_error_text(), 0);
	metric = uncore_find_metric(uncore, "clock");
	if (strcmp(uncore_metric_unit(uncore, (uint32_t)metric), "ns"))
		return complain("unit of the clock is not ns", 0);
	for (int i = 0; i < 20; i++) {
		if (uncore_read(uncore, busy_socket(), UNCORE_FRESH, &before) < 0)
			return complain(uncore_error_text(), 0);
		usleep(20000);
		if (uncore_read(uncore, busy_socket(), UNCORE_FRESH, &after) < 0)
			return complain(uncore_error_text(), 0);
		if (uncore_delta(&before, &after, &delta) < 0)
			return complain(uncore_error_text(), 0);
		off_ns = fabs((double)delta.values[metric].count - (double)delta.window_ns);
		if (off_ns > (double)delta.skew_ns)
			return complain("clock is off by ns, more than its skew", (uint64_t)off_ns);
	}
	uncore_close(uncore);
	return 0;
}

CASE("the clock metric equals the window within the skew")
{
	assert_int_equal(as_nobody(compare_clock, NULL), 0);
}

static struct json_object *member(struct json_object *object, const char *key)
{
	struct json_object *value = json_object_object_get(object, key);

	if (!value)
		fail_msg("no key %s in %s", key, json_object_to_json_string(object));
	return value;
}

static uint64_t bytes_of(struct json_object *report, unsigned socket)
{
	struct json_object *sockets = member(report, "sockets");
	struct json_object *metrics = member(json_object_array_get_idx(sockets, socket), "metrics");

	return json_object_get_uint64(member(member(metrics, "dram.read"), "bytes"));
}

/* The window begins and ends between the readings in noted. */
static void assert_stat_is_true(struct json_object *report)
{
	for (unsigned s = 0; s < standin_sockets(); s++)
		assert_in_range(bytes_of(report, s), s == busy_socket() ? TRUTH : 0,
			noted->end[s].after - noted->begin[s].before);
}

/* The whole command is in the window: it starts on CPU 0, and touches the pages on the last CPU. */
CASE("uncore stat shows the pages that its command touched")
{
	char socket[128], program[512], output[128], cpu[16];
	const char *arguments[] = { "taskset", "-c", "0", program, "stat", "--json", "--output",
		output, "--socket", socket, "--", NULL, "25600", cpu, NULL };
	char touch[512], directory[] = "/tmp/uncore-stat-XXXXXX";
	static struct run run;
	struct json_object *report;

	assert_non_null(mkdtemp(directory));
	assert_int_equal(chown(directory, NOBODY, NOBODY), 0);
	snprintf(output, sizeof output, "%s/report", directory);
	snprintf(socket, sizeof socket, "%s", the_daemon.socket_path);
	snprintf(program, sizeof program, "%s", build_path("client/uncore"));
	snprintf(touch, sizeof touch, "%s", build_path("tests/workload/touch-pages"));
	snprintf(cpu, sizeof cpu, "%u", busy_socket());
	arguments[11] = touch;
	open_kernel();
	note_before(noted->begin);
	run_program(&run, NOBODY, arguments);
	note_after(noted->end);
	close_kernel();
	if (run.status)
		print_message("%s\n", run.output);
	assert_int_equal(run.status, 0);
	report = json_object_from_file(output);
	assert_non_null(report);
	assert_string_equal(json_object_get_string(member(report, "platform")), "standin");
	assert_stat_is_true(report);
	json_object_put(report);
	unlink(output);
	rmdir(directory);
}

static int work_in_a_region(void *argument)
{
	setenv("UNCORE_SOCKET", the_daemon.socket_path, 1);
	pin_to_cpu((int)busy_socket());
	note_before(noted->begin);
	if (uncore_region_begin("work") < 0)
		return complain(uncore_error_text(), 0);
	note_after(noted->begin);
	touch_pages(PAGES);
	note_before(noted->end);
	if (uncore_region_end("work") < 0)
		return complain(uncore_error_text(), 0);
	note_after(noted->end);
	return uncore_region_report(argument) < 0 ? complain(uncore_error_text(), 0) : 0;
}

static struct json_object *find_region(struct json_object *report, const char *name)
{
	struct json_object *regions = member(report, "regions");

	for (size_t i = 0; i < json_object_array_length(regions); i++) {
		struct json_object *region = json_object_array_get_idx(regions, i);

		if (!strcmp(json_object_get_string(member(region, "name")), name))
			return region;
	}
	fail_msg("no region %s in %s", name, json_object_to_json_string(report));
	return NULL;
}

CASE("a region shows the pages that were touched in it")
{
	char directory[] = "/tmp/uncore-region-XXXXXX", path[64];
	struct json_object *report, *region;

	assert_non_null(mkdtemp(directory));
	assert_int_equal(chown(directory, NOBODY, NOBODY), 0);
	snprintf(path, sizeof path, "%s/report", directory);
	open_kernel();
	assert_int_equal(as_nobody(work_in_a_region, path), 0);
	close_kernel();
	report = json_object_from_file(path);
	assert_non_null(report);
	region = find_region(report, "work");
	assert_int_equal(json_object_get_int(member(region, "count")), 1);
	for (unsigned s = 0; s < standin_sockets(); s++)
		assert_true(is_true(s, bytes_of(region, s)));
	json_object_put(report);
	unlink(path);
	rmdir(directory);
}

int main(void)
{
	noted = mmap(
		NULL, sizeof *noted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (noted == MAP_FAILED)
		return 1;
	return run_on_daemon("standin", NULL);
}
