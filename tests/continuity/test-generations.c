/* SPDX-License-Identifier: BSD-3-Clause */
/* Which counts go on when uncored comes back, which begin anew, and what clients see of it. */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/page.h"
#include "daemon/count/ledger.h"
#include "tests/continuity/truth.h"
#include "tests/harness/test.h"

enum { PAGES = 2000 };

static const char clock_of_socket_0[] = "box1"; /* its name in the service manager's store */

static struct daemon_process daemon_process;
static struct truth truth;

static int start(void **state)
{
	daemon_start_activated(&daemon_process, "standin", NULL, true);
	truth_begin(&truth, &daemon_process);
	truth_check(&truth);
	return 0;
}

static int stop(void **state)
{
	daemon_stop(&daemon_process);
	return 0;
}

static void restart(void)
{
	daemon_restart(&daemon_process, "standin");
}

/* --- a client across it all --- */

static struct uncore_sample read_with(struct uncore *uncore, int how)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;

	assert_int_equal(uncore_read(uncore, 0, how, &sample), 0);
	return sample;
}

static struct uncore_sample read_fresh(void)
{
	struct uncore_sample sample;
	struct uncore *uncore;

	assert_int_equal(uncore_open(daemon_process.socket_path, &uncore), 0);
	sample = read_with(uncore, UNCORE_FRESH);
	uncore_close(uncore);
	return sample;
}

static bool same_generation(const struct uncore_sample *a, const struct uncore_sample *b)
{
	return !memcmp(a->generation, b->generation, sizeof a->generation);
}

static void assert_begins_anew(const struct uncore_sample *before, const char *words)
{
	struct uncore_sample after = read_fresh();
	struct uncore_delta delta = UNCORE_DELTA_INIT;

	assert_false(same_generation(before, &after));
	assert_int_equal(uncore_delta(before, &after, &delta), -ESTALE);
	assert_true(daemon_logged(&daemon_process, words));
	/* Counts go on from here. */
	daemon_kill(&daemon_process);
	restart();
	before = &after;
	after = read_fresh();
	assert_true(same_generation(before, &after));
}

/* --- it goes on --- */

CASE("ended and started again, uncored goes on exactly")
{
	kill(daemon_process.pid, SIGTERM);
	assert_int_equal(wait_for(daemon_process.pid, 10), 0);
	touch_pages(PAGES);
	restart();
	truth_check(&truth);
	assert_true(daemon_logged(&daemon_process, "resumed from the uncored before"));
}

CASE("an open handle is told that uncored is gone, and a new one goes on")
{
	struct uncore_sample before, after = UNCORE_SAMPLE_INIT;
	struct uncore_delta delta = UNCORE_DELTA_INIT;
	struct uncore *old, *new;

	assert_int_equal(uncore_open(daemon_process.socket_path, &old), 0);
	pin_to_cpu(0);
	before = read_with(old, UNCORE_FRESH);
	daemon_kill(&daemon_process);
	touch_pages(PAGES);
	restart();
	assert_int_equal(uncore_read(old, 0, UNCORE_FRESH, &after), -ENOTCONN);
	assert_int_equal(uncore_open(daemon_process.socket_path, &new), 0);
	after = read_with(new, UNCORE_FRESH);
	assert_int_equal(uncore_delta(&before, &after, &delta), 0);
	assert_true(delta.values[0].count >= PAGES * UINT64_C(4096));
	assert_int_equal(delta.values[0].quality, UNCORE_STANDIN);
	/* The page is still the same. */
	assert_int_equal(read_with(old, UNCORE_CACHED).sweep, after.sweep);
	uncore_close(old);
	uncore_close(new);
}

static uint64_t reported_bytes(const char *path)
{
	struct json_object *root = json_object_from_file(path), *at;
	uint64_t bytes;

	assert_non_null(root);
	at = json_object_array_get_idx(json_object_object_get(root, "regions"), 0);
	assert_int_equal(json_object_get_int(json_object_object_get(at, "failed")), 0);
	at = json_object_array_get_idx(json_object_object_get(at, "sockets"), 0);
	at = json_object_object_get(at, "metrics");
	at = json_object_object_get(at, "dram.read");
	bytes = json_object_get_uint64(json_object_object_get(at, "bytes"));
	json_object_put(root);
	return bytes;
}

/* The connection of a region lasts as long as its process. */
static int keep_region_open(void *argument)
{
	const int *ends = argument;
	char path[128], go_on;

	snprintf(path, sizeof path, "%s/report", daemon_process.directory);
	setenv("UNCORE_SOCKET", daemon_process.socket_path, 1);
	if (uncore_region_begin("across") < 0 || write(ends[1], "", 1) != 1 ||
		read(ends[1], &go_on, 1) != 1 || uncore_region_end("across") < 0)
		return 1;
	return uncore_region_report(path) < 0;
}

CASE("an open region sees nothing of five restarts")
{
	int ends[2];
	char path[128], byte;
	pid_t pid;

	snprintf(path, sizeof path, "%s/report", daemon_process.directory);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	pid = start_as(0, keep_region_open, ends);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	pin_to_cpu(0);
	for (unsigned i = 0; i < 5; i++) {
		daemon_kill(&daemon_process);
		touch_pages(PAGES);
		restart();
	}
	assert_int_equal(write(ends[0], "", 1), 1);
	assert_int_equal(wait_for(pid, 10), 0);
	assert_true(reported_bytes(path) >= 5 * PAGES * UINT64_C(4096));
	unlink(path);
	close(ends[0]);
	close(ends[1]);
}

/* The client is told to try again, in bounded time, and the next daemon mends the page. */
CASE("a page left half written is never read, and is mended")
{
	int fd = manager_find(&daemon_process.manager, "page-1");
	struct page_header *page;
	struct page_cell *cell;
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct uncore *uncore;

	assert_int_equal(uncore_open(daemon_process.socket_path, &uncore), 0);
	daemon_kill(&daemon_process);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(page != MAP_FAILED);
	cell = page_cell(page, 0);
	cell->lock |= 1;
	cell->sweep.values[0].count = 12345;
	assert_int_equal(uncore_read(uncore, 0, UNCORE_CACHED, &sample), -EAGAIN);
	restart();
	read_with(uncore, UNCORE_CACHED);
	uncore_close(uncore);
	truth_check(&truth);
	munmap(page, 4096);
}

static void assert_budget(int percent)
{
	struct json_object *info = daemon_info(&daemon_process), *policy;

	policy = json_object_object_get(info, "policy");
	assert_int_equal(
		json_object_get_int(json_object_object_get(policy, "budget_percent")), percent);
	json_object_put(info);
}

static void assert_refused(bool is_refused)
{
	struct json_object *info = daemon_info(&daemon_process);

	assert_int_equal(!!json_object_object_get(info, "refused_configuration"), is_refused);
	assert_int_equal(
		!!strstr(daemon_process.manager.status, "as it was before holds"), is_refused);
	json_object_put(info);
}

CASE("a bad configuration is not taken, and the one before it is")
{
	daemon_reload(&daemon_process, "[reader]\nbudget_percent = 30\n");
	daemon_kill(&daemon_process);
	daemon_configure(&daemon_process, "[reader]\nbudget_percent = 300\n");
	restart();
	assert_true(daemon_logged(&daemon_process, "budget_percent = 300: must be 1 to 100"));
	assert_true(daemon_logged(
		&daemon_process, "uncored goes on with the configuration as it was before."));
	assert_budget(30);
	truth_check(&truth);
	assert_refused(true);
	/* A killed daemon comes back with the last configuration that was right. */
	daemon_kill(&daemon_process);
	restart();
	assert_budget(30);
	assert_refused(true);
	daemon_reload(&daemon_process, "");
	assert_budget(10);
	assert_refused(false);
}

CASE("`uncore info` tells that totals outlive a restart")
{
	static struct run run;
	const char *const arguments[] = { "info", "-v", "--socket", daemon_process.socket_path,
		NULL };

	run_uncore(&run, arguments);
	assert_int_equal(run.status, 0);
	assert_non_null(strstr(run.output, "Totals outlive a restart of uncored, and continue "
					   "those of the uncored before.\n"));
}

/* Has the service manager keep page 1 once more, as @name. */
static void keep_page_again_as(const char *name)
{
	struct service_manager *manager = &daemon_process.manager;
	struct manager_kept *kept = &manager->kept[manager->n_kept];

	kept->fd = fcntl(manager_find(manager, "page-1"), F_DUPFD_CLOEXEC, 0);
	assert_true(kept->fd >= 0);
	snprintf(kept->name, sizeof kept->name, "%s", name);
	manager->n_kept++;
}

static void lose_the_second_page(void)
{
	struct service_manager *manager = &daemon_process.manager;
	struct manager_kept *last = &manager->kept[manager->n_kept - 1], *kept = last;

	while (strcmp(kept->name, "page-1") != 0)
		kept--;
	assert_int_not_equal(kept->fd, manager_find(manager, "page-1"));
	close(kept->fd);
	*kept = *last;
	manager->n_kept--;
}

/* The page is not withdrawn with its copies, nor forgotten with the copy of the same name. */
CASE("a page that is kept twice is gone on with")
{
	struct uncore *uncore;

	assert_int_equal(uncore_open(daemon_process.socket_path, &uncore), 0);
	for (unsigned i = 0; i < 2; i++) {
		daemon_kill(&daemon_process);
		if (i == 0) {
			keep_page_again_as("page-1");
			keep_page_again_as("page-7");
		}
		restart();
		read_with(uncore, UNCORE_CACHED);
		truth_check(&truth);
		assert_int_equal(manager_find(&daemon_process.manager, "page-7"), -1);
	}
	lose_the_second_page();
	uncore_close(uncore);
}

/* --- it goes on, with a gap that is told --- */

/* @expected are the flags of socket 0's clock; the metrics beside it are not flagged as reset. */
static void assert_reset_is_told(const struct uncore_sample *before, uint32_t expected)
{
	struct uncore_sample after = read_fresh();
	struct uncore_delta delta = UNCORE_DELTA_INIT;
	struct uncore *uncore;
	int clock;

	assert_int_equal(uncore_open(daemon_process.socket_path, &uncore), 0);
	clock = uncore_find_metric(uncore, "clock");
	uncore_close(uncore);
	assert_true(same_generation(before, &after));
	assert_int_equal(uncore_delta(before, &after, &delta), 0);
	assert_int_equal(delta.values[clock].quality, UNCORE_STANDIN | expected);
	assert_int_equal(delta.values[0].quality, UNCORE_STANDIN);
	assert_true(after.values[clock].count > before->values[clock].count);
}

CASE("counters that the manager lost are opened anew and flagged as reset")
{
	struct uncore_sample before = read_fresh(), after;

	daemon_kill(&daemon_process);
	manager_lose(&daemon_process.manager, clock_of_socket_0);
	restart();
	assert_true(daemon_logged(&daemon_process, "1 of 4 counter boxes had stopped"));
	assert_reset_is_told(&before, UNCORE_RESET);
	after = read_fresh();
	assert_reset_is_told(&after, 0);
	/* The new ones are kept, too. */
	daemon_kill(&daemon_process);
	restart();
	assert_reset_is_told(&after, 0);
}

/* As the kernel leaves them when their socket was offline. */
CASE("counters that stand still are opened anew and flagged as reset")
{
	struct uncore_sample before = read_fresh(), after;
	int fd = manager_find(&daemon_process.manager, clock_of_socket_0);

	daemon_kill(&daemon_process);
	assert_int_equal(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	usleep(2000);
	restart(); /* finds clocks that count less than the time that passed, but count */
	daemon_kill(&daemon_process);
	usleep(2000);
	restart();
	assert_reset_is_told(&before, UNCORE_RESET);
	after = read_fresh();
	assert_reset_is_told(&after, 0);
}

CASE("counters that stop while uncored runs make it end, and are opened anew")
{
	struct uncore_sample before = read_fresh(), sample = UNCORE_SAMPLE_INIT;
	int fd = manager_find(&daemon_process.manager, clock_of_socket_0);
	struct uncore *uncore;
	int r = 0;

	assert_int_equal(uncore_open(daemon_process.socket_path, &uncore), 0);
	assert_int_equal(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	for (unsigned i = 0; i < 100 && r == 0; i++) {
		usleep(100000);
		r = uncore_read(uncore, 0, UNCORE_FRESH, &sample);
	}
	assert_int_equal(r, -ENOTCONN);
	assert_true(sample.values[uncore_find_metric(uncore, "clock")].quality & UNCORE_FROZEN);
	uncore_close(uncore);
	assert_int_equal(wait_for(daemon_process.pid, 10), 75);
	restart();
	assert_reset_is_told(&before, UNCORE_RESET | UNCORE_FROZEN);
}

/* --- it begins anew --- */

CASE("a new generation begins without a descriptor store")
{
	struct uncore_sample before = read_fresh();

	daemon_kill(&daemon_process);
	manager_lose(&daemon_process.manager, NULL);
	restart();
	assert_begins_anew(&before, "Serving standin");
}

/* Readers of the old page are not left with it for ever. */
CASE("a new generation begins without the ledger, and the old page is withdrawn")
{
	struct uncore_sample before = read_fresh(), sample = UNCORE_SAMPLE_INIT;
	struct uncore *uncore;

	assert_int_equal(uncore_open(daemon_process.socket_path, &uncore), 0);
	daemon_kill(&daemon_process);
	manager_lose(&daemon_process.manager, "ledger");
	restart();
	assert_int_equal(uncore_read(uncore, 0, UNCORE_CACHED, &sample), -EACCES);
	uncore_close(uncore);
	assert_begins_anew(&before, "cannot be continued: there is no ledger");
	assert_int_equal(manager_find(&daemon_process.manager, "page-2"), -1);
}

CASE("a new generation begins without the page")
{
	struct uncore_sample before = read_fresh();

	daemon_kill(&daemon_process);
	manager_lose(&daemon_process.manager, "page-1");
	restart();
	assert_begins_anew(&before, "its page is missing");
}

/* As after an upgrade, or when an upgrade is taken back. */
CASE("a new generation begins after a page of another version, which is withdrawn")
{
	struct uncore_sample before = read_fresh(), sample = UNCORE_SAMPLE_INIT;
	struct page_header *page;
	struct uncore *uncore;

	assert_int_equal(uncore_open(daemon_process.socket_path, &uncore), 0);
	daemon_kill(&daemon_process);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
		manager_find(&daemon_process.manager, "page-1"), 0);
	assert_true(page != MAP_FAILED);
	page->version++;
	munmap(page, 4096);
	restart();
	assert_int_equal(uncore_read(uncore, 0, UNCORE_CACHED, &sample), -EACCES);
	uncore_close(uncore);
	assert_begins_anew(&before, "its page is damaged or of another version");
}

CASE("a new generation begins after a ledger of another version")
{
	struct uncore_sample before = read_fresh();
	struct ledger_header *header;

	daemon_kill(&daemon_process);
	header = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
		manager_find(&daemon_process.manager, "ledger"), 0);
	assert_true(header != MAP_FAILED);
	header->version++;
	munmap(header, 4096);
	restart();
	assert_begins_anew(&before, "it has version 3 of the layout, this uncored knows version 2");
}

CASE("a new generation begins on another machine")
{
	struct uncore_sample before = read_fresh();

	daemon_kill(&daemon_process);
	daemon_restart(&daemon_process, "standin-wide");
	assert_true(daemon_logged(&daemon_process, "it is about "));
	daemon_kill(&daemon_process);
	restart();
	assert_begins_anew(&before, "this machine has 2 with 4");
}

/* The service manager does not keep descriptors of earlier generations for ever. */
CASE("the manager keeps the present generation and nothing else")
{
	/* Ledger, page, configuration; 3 counters and a clock for each socket. */
	assert_int_equal(daemon_process.manager.n_kept, 3 + 4 * standin_sockets());
}

int main(void)
{
	return run_privileged_cases(start, stop);
}
