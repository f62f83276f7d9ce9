/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An uncored that hangs is noticed, killed and started again, and its totals go on. The service
 * manager of the test does what systemd does for WatchdogSec=.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/libuncore/team-call.h"
#include "common/macro.h"
#include "common/page.h"
#include "common/wire.h"
#include "tests/continuity/trace.h"
#include "tests/continuity/truth.h"
#include "tests/harness/test.h"

enum { WATCHDOG_S = 4, REALTIME_LIMIT_MS = 300, CLIENTS = 16, PAGES = 1000 };

static struct daemon_process daemon_process;
static struct truth truth;

/*
 * All cases but one run without real-time priority: a loop would take a whole CPU of this machine.
 */
static void begin(struct daemon_process options, const char *config)
{
	daemon_process = options;
	daemon_start_activated(&daemon_process, "standin", config, true);
	truth_begin(&truth, &daemon_process);
	truth_check(&truth);
}

static void begin_watched(void)
{
	begin((struct daemon_process){ .watchdog_s = WATCHDOG_S }, "[reader]\nrealtime = no\n");
}

static void go_on_and_check(void)
{
	touch_pages(PAGES);
	daemon_restart(&daemon_process, "standin");
	truth_check(&truth);
	assert_true(daemon_logged(&daemon_process, "resumed from the uncored before"));
}

/* --- a reader that hangs --- */

/* A client's doorbell of socket 0, and the page. */
struct ringer {
	int connection;
	struct wire_packet packet;
	const struct page_header *page;
};

static void ringer_connect(struct ringer *ringer)
{
	ringer->connection = connect_hello(&daemon_process, &ringer->packet);
	ringer->page = mmap(NULL, ringer->packet.message.welcome.page_bytes, PROT_READ, MAP_SHARED,
		ringer->packet.fds[0], 0);
	assert_true(ringer->page != MAP_FAILED);
}

static void ringer_done(struct ringer *ringer)
{
	munmap((void *)ringer->page, ringer->packet.message.welcome.page_bytes);
	wire_packet_done(&ringer->packet);
	close(ringer->connection);
}

static void ring(void *argument)
{
	struct ringer *ringer = argument;

	eventfd_write(ringer->packet.fds[1], 1);
}

static bool is_sweeping(void *argument)
{
	struct ringer *ringer = argument;

	return page_cell(ringer->page, 0)->lock & 1;
}

static pid_t hold_in_sweep(struct ringer *ringer)
{
	ringer_connect(ringer);
	return trace_hold(&daemon_process, ring, ringer, is_sweeping, ringer);
}

/* A main thread that gets no CPU is silent before it has noticed anything. */
static void abort_when_noticed(void)
{
	while (!daemon_logged(&daemon_process, "The reader of socket 0 hangs: ")) {
		manager_dispatch(&daemon_process.manager);
		usleep(10000);
	}
	daemon_abort_when_silent(&daemon_process);
}

/* Which sentence is true depends on what the reader did last, and on when the watchdog looked. */
static void assert_noticed(void)
{
	static const char *const sentences[] = {
		"The reader of socket 0 hangs: it has been answering rings for ",
		"The reader of socket 0 hangs: it has been leaving a ring unanswered for ",
		"The reader of socket 0 hangs: it has been asleep although an answer was due for ",
	};
	unsigned n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sentences); i++)
		n += daemon_logged(&daemon_process, sentences[i]);
	assert_true(n > 0);
	assert_false(daemon_logged(&daemon_process, "The reader of socket 1 hangs"));
}

CASE("a sweep that sleeps is noticed, and the next uncored goes on exactly")
{
	struct ringer ringer;
	pid_t tid;

	begin_watched();
	tid = hold_in_sweep(&ringer);
	abort_when_noticed();
	trace_reap(tid);
	daemon_ended_by(&daemon_process, SIGABRT);
	assert_noticed();
	ringer_done(&ringer);
	go_on_and_check();
	daemon_stop(&daemon_process);
}

CASE("a sweep that loops is noticed, and the next uncored goes on exactly")
{
	struct ringer ringer;

	begin_watched();
	trace_let_loop(hold_in_sweep(&ringer));
	abort_when_noticed();
	daemon_ended_by(&daemon_process, SIGABRT);
	assert_noticed();
	ringer_done(&ringer);
	go_on_and_check();
	daemon_stop(&daemon_process);
}

/* Here only the kernel is sure to end uncored: the main thread may not get a CPU. */
CASE("a sweep that loops at real-time priority is ended by RLIMIT_RTTIME, and the next uncored "
     "goes on exactly")
{
	struct ringer ringer;

	begin((struct daemon_process){ .realtime_limit_ms = REALTIME_LIMIT_MS }, NULL);
	if (!daemon_socket_number(&daemon_process, 0, "realtime")) {
		daemon_stop(&daemon_process);
		skip();
	}
	trace_let_loop(hold_in_sweep(&ringer));
	daemon_ended_by(&daemon_process, SIGXCPU);
	ringer_done(&ringer);
	go_on_and_check();
	daemon_stop(&daemon_process);
}

static bool at_once(void *argument)
{
	return true;
}

/* A client that sets a limit must not be told that a budget is spent. */
static void assert_client_is_told(const struct uncore *handle)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;

	assert_int_equal(uncore_read(handle, 0, UNCORE_FRESH, &sample), -ETIMEDOUT);
	assert_non_null(strstr(uncore_error_text(), "limit: its reader got no CPU time, or hangs"));
	assert_null(strstr(uncore_error_text(), "budget"));
}

/* It sleeps until somebody rings, and does not come back from that. */
CASE("a reader that stands still between two sweeps is noticed, clients are not told of a budget, "
     "and the next uncored goes on exactly")
{
	struct uncore *handle;
	struct ringer ringer;
	pid_t tid;

	begin_watched();
	assert_int_equal(uncore_open(daemon_process.socket_path, &handle), 0);
	uncore_set_timeout(handle, 50000000);
	ringer_connect(&ringer);
	tid = trace_hold(&daemon_process, ring, &ringer, at_once, NULL);
	assert_client_is_told(handle);
	abort_when_noticed();
	trace_reap(tid);
	daemon_ended_by(&daemon_process, SIGABRT);
	assert_noticed();
	uncore_close(handle);
	ringer_done(&ringer);
	go_on_and_check();
	daemon_stop(&daemon_process);
}

CASE("a process that is stopped is noticed, and the next uncored goes on exactly")
{
	begin_watched();
	kill(daemon_process.pid, SIGSTOP);
	daemon_abort_when_silent(&daemon_process);
	daemon_ended_by(&daemon_process, SIGABRT);
	go_on_and_check();
	daemon_stop(&daemon_process);
}

/* --- a service manager that hangs --- */

enum { TABLES = 40, OF_UID_MAX = 32 };

static void join_team(unsigned number)
{
	char name[TEAM_NAME_BYTES];
	const struct team_wish wish = { .name = name, .layout = 7, .bytes = 1 << 20 };
	struct team_table table;

	snprintf(name, sizeof name, "table%u", number);
	assert_int_equal(team_join(daemon_process.socket_path, &wish, &table), 0);
	team_table_done(&table);
}

static unsigned count_kept_tables(void)
{
	const struct service_manager *manager = &daemon_process.manager;
	unsigned n = 0;

	for (unsigned i = 0; i < manager->n_kept; i++)
		n += !strncmp(manager->kept[i].name, "team", 4);
	return n;
}

/* It does not read its messages, of which its socket takes some, while tables come and go. */
CASE("a service manager that reads no messages does not hold up uncored, and gets the tables of "
     "teams later")
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct uncore *handle;
	unsigned n = 0;

	begin_watched();
	while (n < TABLES)
		join_team(n++);
	assert_int_equal(uncore_open(daemon_process.socket_path, &handle), 0);
	assert_int_equal(uncore_read(handle, 0, UNCORE_FRESH, &sample), 0);
	uncore_close(handle);
	assert_true(daemon_logged(&daemon_process, "does not take the messages of uncored"));
	while (count_kept_tables() != OF_UID_MAX && n < 100 * TABLES) {
		manager_dispatch(&daemon_process.manager);
		join_team(n++);
	}
	assert_int_equal(count_kept_tables(), OF_UID_MAX);
	daemon_kill(&daemon_process);
	go_on_and_check();
	daemon_stop(&daemon_process);
}

static void fill_notify_socket(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, daemon_process.manager.notify_path);
	while (sendto(fd, "x", 1, MSG_DONTWAIT, (const void *)&address, sizeof address) == 1)
		;
	close(fd);
}

/* The manager would wait for READY=1 without end. */
CASE("a service manager that has no room for READY=1 gets it when it has")
{
	begin((struct daemon_process){}, NULL);
	fill_notify_socket();
	kill(daemon_process.pid, SIGHUP);
	while (!daemon_logged(&daemon_process, "The configuration was read again."))
		usleep(10000);
	usleep(200000); /* it has tried, and waits no more */
	assert_true(manager_wait_until_ready(&daemon_process.manager));
	daemon_stop(&daemon_process);
}

int main(void)
{
	return run_privileged_cases(NULL, NULL);
}
