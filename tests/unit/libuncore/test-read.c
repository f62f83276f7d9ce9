/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/libuncore/call.h"
#include "client/libuncore/internal.h"
#include "common/clock.h"
#include "common/wire.h"
#include "tests/harness/fake-daemon.h"
#include "tests/harness/test.h"

/* A daemon and a connection to it. */
struct link {
	struct fake_daemon daemon;
	struct uncore *handle;
};

static void link_open(struct link *link)
{
	fake_daemon_start(&link->daemon, NULL, 1);
	assert_int_equal(uncore_open(link->daemon.path, &link->handle), 0);
	/* Nothing here waits for real time, so a busy machine may take what it needs. */
	assert_int_equal(uncore_set_timeout(link->handle, 30000000000), 0);
}

static void link_close(struct link *link)
{
	uncore_close(link->handle);
	fake_daemon_stop(&link->daemon);
	fake_daemon_done(&link->daemon);
}

static void expect_text(const char *part)
{
	if (!strstr(uncore_error_text(), part))
		fail_msg("\"%s\" is not in: %s", part, uncore_error_text());
}

/* --- opening --- */

static int try_open_within(const struct fake_options *options, uint64_t within_ns)
{
	struct uncore *handle = (void *)1;
	struct fake_daemon daemon;
	int r;

	fake_daemon_start(&daemon, options, 1);
	r = uncore_open_within(daemon.path, within_ns, &handle);
	if (r < 0)
		assert_ptr_equal(handle, (void *)1);
	else
		uncore_close(handle);
	fake_daemon_stop(&daemon);
	fake_daemon_done(&daemon);
	return r;
}

static int try_open(const struct fake_options *options)
{
	return try_open_within(options, CALL_WITHIN_NS);
}

CASE("no socket is ENOENT, with what to do")
{
	struct uncore *handle;

	assert_int_equal(uncore_open("/nonexistent/socket", &handle), -ENOENT);
	expect_text("Cannot connect to uncored at /nonexistent/socket: No such file or directory. "
		    "Start it with `systemctl start uncored.socket`, or name another socket with "
		    "UNCORE_SOCKET. In a container, bind the folder of the node's socket.");
}

CASE("the environment names the socket")
{
	struct uncore *handle;

	setenv("UNCORE_SOCKET", "/nonexistent/other", 1);
	assert_int_equal(uncore_open(NULL, &handle), -ENOENT);
	expect_text("/nonexistent/other");
	unsetenv("UNCORE_SOCKET");
}

CASE("a path too long is refused")
{
	struct uncore *handle;
	char path[200];

	memset(path, 'x', sizeof path - 1);
	path[sizeof path - 1] = '\0';
	assert_int_equal(uncore_open(path, &handle), -ENAMETOOLONG);
	assert_int_equal(uncore_open("/nonexistent", NULL), -EINVAL);
}

CASE("a socket without daemon is ECONNREFUSED")
{
	struct fake_daemon daemon;
	struct uncore *handle;

	fake_daemon_start(&daemon, NULL, 1);
	fake_daemon_stop(&daemon);
	assert_int_equal(uncore_open(daemon.path, &handle), -ECONNREFUSED);
	expect_text("no daemon listens");
	fake_daemon_done(&daemon);
}

CASE("a closed socket is EACCES")
{
	struct fake_daemon daemon;
	struct uncore *handle;
	bool root = geteuid() == 0;
	int r;

	fake_daemon_start(&daemon, NULL, 1);
	chmod(daemon.directory, 0755);
	chmod(daemon.path, 0);
	if (root)
		assert_int_equal(seteuid(65534), 0);
	r = uncore_open(daemon.path, &handle);
	if (root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(r, -EACCES);
	expect_text("not open to this user");
	fake_daemon_stop(&daemon);
	fake_daemon_done(&daemon);
}

/* The kernel refuses root for another reason than others, who may not write the file. */
CASE("a file is not a socket, for any user")
{
	struct uncore *handle;
	bool root = geteuid() == 0;
	int r;

	assert_true(uncore_open("/etc/passwd", &handle) < 0);
	expect_text("That is a file or a folder, and not a socket.");
	if (root)
		assert_int_equal(seteuid(65534), 0);
	r = uncore_open("/etc/passwd", &handle);
	if (root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(r, -EACCES);
	expect_text("That is a file or a folder, and not a socket.");
}

CASE("refusals are passed on")
{
	static const int errors[] = { -EPROTONOSUPPORT, -EOPNOTSUPP, -EDQUOT, -EACCES };

	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(
			try_open(&(struct fake_options){ .refuse = errors[i] }), errors[i]);
		expect_text("refuses: because it was told to.");
		assert_null(strstr(uncore_error_text(), "told to. ")); /* no advice of our own */
	}
}

CASE("a refusal ahead of HELLO is passed on")
{
	assert_int_equal(
		try_open(&(struct fake_options){ .refuse = -EDQUOT, .refuse_at_once = true }),
		-EDQUOT);
	expect_text("because it was told to.");
}

CASE("a version later than asked for is EPROTONOSUPPORT")
{
	assert_int_equal(
		try_open(&(struct fake_options){ .version = WIRE_VERSION + 1 }), -EPROTONOSUPPORT);
	expect_text("releases that do not go together");
}

CASE("a silent daemon is ETIMEDOUT")
{
	uint64_t begin_ns = clock_now_ns();

	assert_int_equal(
		try_open_within(&(struct fake_options){ .silent = true }, 50000000), -ETIMEDOUT);
	assert_true(clock_now_ns() - begin_ns >= 50000000);
	expect_text("/socket did not answer within 0.05 s: look at `systemctl status uncored`.");
	assert_int_equal(CALL_WITHIN_NS, 10000000000);
}

CASE("opening may be given less time")
{
	struct fake_daemon daemon;
	struct uncore *handle = NULL;
	uint64_t begin_ns, took_ns;

	fake_daemon_start(&daemon, &(struct fake_options){ .silent = true }, 1);
	begin_ns = clock_now_ns();
	assert_int_equal(uncore_open_within(daemon.path, 20000000, &handle), -ETIMEDOUT);
	took_ns = clock_now_ns() - begin_ns;
	assert_true(took_ns >= 20000000 && took_ns < 900000000);
	assert_int_equal(uncore_open_within(daemon.path, 0, &handle), -EINVAL);
	assert_null(handle);
	fake_daemon_stop(&daemon);
	fake_daemon_done(&daemon);
}

/* A socket that nobody accepts from, and connections until its backlog is full. */
struct full {
	struct sockaddr_un address;
	char folder[32];
	int listener, clients[8], n_clients;
};

static void full_make(struct full *full)
{
	int fd;

	*full = (struct full){ .address.sun_family = AF_UNIX,
		.folder = "/tmp/uncore-test-XXXXXX",
		.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0) };
	assert_non_null(mkdtemp(full->folder));
	snprintf(full->address.sun_path, sizeof full->address.sun_path, "%s/full", full->folder);
	assert_int_equal(bind(full->listener, (void *)&full->address, sizeof full->address), 0);
	assert_int_equal(listen(full->listener, 1), 0);
	for (;;) {
		fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (connect(fd, (void *)&full->address, sizeof full->address) < 0)
			break;
		full->clients[full->n_clients++] = fd;
	}
	assert_int_equal(errno, EAGAIN);
	close(fd);
}

static void full_done(struct full *full)
{
	for (int i = 0; i < full->n_clients; i++)
		close(full->clients[i]);
	close(full->listener);
	unlink(full->address.sun_path);
	rmdir(full->folder);
}

/* Accepts the connections that wait, and closes them at once. */
static void *close_later(void *argument)
{
	const struct timeval patience = { .tv_sec = 5 };
	const struct full *full = argument;

	setsockopt(full->listener, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	usleep(50000);
	for (int i = 0; i < full->n_clients + 2; i++) /* it comes twice */
		close(accept(full->listener, NULL, NULL));
	return NULL;
}

CASE("a full backlog is waited for, but no longer than the limit")
{
	const uint64_t limit_ns = 60000000;
	uint64_t begin_ns = clock_now_ns();
	struct uncore *handle = NULL;
	struct full full;
	pthread_t thread;

	full_make(&full);
	assert_int_equal(uncore_open_within(full.address.sun_path, limit_ns, &handle), -ETIMEDOUT);
	assert_true(clock_now_ns() - begin_ns >= limit_ns);
	pthread_create(&thread, NULL, close_later, &full);
	assert_int_equal(uncore_open(full.address.sun_path, &handle), -ECONNRESET);
	pthread_join(thread, NULL);
	full_done(&full);
}

static void do_nothing(int number)
{
	(void)number;
}

/* As under a profiler: signals come faster than the time limit, and restart nothing. */
CASE("signals do not prolong the wait")
{
	struct itimerval often = { .it_interval = { .tv_usec = 5000 },
		.it_value = { .tv_usec = 5000 } };
	struct itimerval never = {};
	struct sigaction action = { .sa_handler = do_nothing }, before;
	uint64_t begin_ns = clock_now_ns();

	sigaction(SIGALRM, &action, &before);
	setitimer(ITIMER_REAL, &often, NULL);
	assert_int_equal(
		try_open_within(&(struct fake_options){ .silent = true }, 100000000), -ETIMEDOUT);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	assert_true(clock_now_ns() - begin_ns >= 100000000);
}

/* Two answers, each within a second, but not both. */
CASE("a call has one deadline, however often it waits")
{
	struct wire_packet packet = { .n_fds = 0 };
	union wire_message request;
	struct fake_daemon daemon;
	struct call call;

	fake_daemon_start(&daemon, &(struct fake_options){ .delay_ms = 700 }, 1);
	call = call_to(daemon.path, 1000000000);
	wire_begin(&request, WIRE_INFO);
	assert_int_equal(call_ask_once(&call, &request, WIRE_REPORT, &packet), -ETIMEDOUT);
	expect_text("did not answer within 1 s");
	call_done(&call);
	fake_daemon_stop(&daemon);
	fake_daemon_done(&daemon);
}

CASE("a page that differs from its announcement is refused")
{
	assert_int_equal(try_open(&(struct fake_options){ .extra_page_bytes = 1 << 20 }), -EBADMSG);
	assert_int_equal(try_open(&(struct fake_options){ .bad_page = true }), -EBADMSG);
	assert_int_equal(try_open(&(struct fake_options){ .open_ended = true }), -EBADMSG);
}

CASE("a welcome without wake-ups is refused")
{
	assert_int_equal(try_open(&(struct fake_options){ .no_wakeups = true }), -EBADMSG);
	assert_int_equal(try_open(&(struct fake_options){ .short_wakeups = true }), -EBADMSG);
}

CASE("out of descriptors is EMFILE")
{
	enum { LIMIT = 100 };
	struct rlimit limit, low;
	struct fake_daemon daemon;
	struct uncore *handle;
	int fillers[LIMIT], n = 0, r_socket, r_welcome;

	fake_daemon_start(&daemon, NULL, 1);
	getrlimit(RLIMIT_NOFILE, &limit);
	low = (struct rlimit){ .rlim_cur = LIMIT, .rlim_max = limit.rlim_max };
	setrlimit(RLIMIT_NOFILE, &low);
	while (n < LIMIT && (fillers[n] = dup(0)) >= 0)
		n++;
	r_socket = uncore_open(daemon.path, &handle);
	/*
	 * There is room for the two ends of the connection, but not for descriptors that come
	 * through it.
	 */
	for (int i = 0; i < 3; i++)
		close(fillers[--n]);
	r_welcome = uncore_open(daemon.path, &handle);
	while (n)
		close(fillers[--n]);
	setrlimit(RLIMIT_NOFILE, &limit);
	assert_int_equal(r_socket, -EMFILE);
	assert_int_equal(r_welcome, -EMFILE);
	expect_text("too many open files");
	fake_daemon_stop(&daemon);
	fake_daemon_done(&daemon);
}

/* In a child: the address space that is given up here does not come back. */
static int open_without_memory(const char *path)
{
	struct rlimit limit = { .rlim_max = RLIM_INFINITY };
	unsigned long pages = 0;
	struct uncore *handle;
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file || fscanf(file, "%lu", &pages) != 1)
		return 1;
	fclose(file);
	limit.rlim_cur = pages * (rlim_t)sysconf(_SC_PAGESIZE) + (16 << 20);
	if (setrlimit(RLIMIT_AS, &limit) < 0)
		return 2;
	return uncore_open(path, &handle) == -ENOMEM ? 0 : 3;
}

CASE("out of memory is ENOMEM")
{
	struct fake_daemon daemon;
	pid_t pid;
	int status;

	fake_daemon_start(&daemon, &(struct fake_options){ .padding_bytes = 256 << 20 }, 1);
	pid = fork();
	if (pid == 0)
		_exit(open_without_memory(daemon.path));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	fake_daemon_stop(&daemon);
	fake_daemon_done(&daemon);
}

CASE("closing nothing is allowed")
{
	uncore_close(NULL);
}

CASE("closing ends the connection")
{
	struct link link;

	link_open(&link);
	/* More than the daemon has room for, were they not gone. */
	for (int i = 0; i < 3 * FAKE_CLIENTS_MAX; i++) {
		struct uncore *handle;

		assert_int_equal(uncore_open(link.daemon.path, &handle), 0);
		uncore_close(handle);
	}
	link_close(&link);
}

/* --- describing --- */

CASE("the machine is described")
{
	struct uncore_machine machine = UNCORE_MACHINE_INIT;
	struct link link;

	link_open(&link);
	assert_int_equal(uncore_describe(link.handle, &machine), 0);
	assert_int_equal(machine.n_sockets, FAKE_SOCKETS);
	assert_int_equal(machine.n_metrics, FAKE_METRICS);
	assert_int_equal(machine.n_channels, FAKE_SOCKETS * FAKE_CHANNELS);
	assert_int_equal(machine.generation[0], 1);
	assert_string_equal(machine.platform, "icelake-sp");
	machine.size = 1;
	assert_int_equal(uncore_describe(link.handle, &machine), -EINVAL);
	assert_int_equal(uncore_describe(NULL, &machine), -EINVAL);
	link_close(&link);
}

CASE("metrics are named")
{
	struct link link;

	link_open(&link);
	assert_string_equal(uncore_metric_name(link.handle, FAKE_WRITE), "dram.write");
	assert_string_equal(uncore_metric_unit(link.handle, FAKE_CLOCK), "ns");
	assert_int_equal(uncore_metric_pmid(link.handle, FAKE_CLOCK), FAKE_PMID);
	assert_int_equal(uncore_metric_pmid(link.handle, FAKE_WRITE), 0);
	assert_int_equal(uncore_metric_pmid(link.handle, FAKE_METRICS), 0);
	assert_null(uncore_metric_name(link.handle, FAKE_METRICS));
	assert_null(uncore_metric_unit(link.handle, FAKE_METRICS));
	assert_int_equal(uncore_find_metric(link.handle, "itom"), FAKE_ITOM);
	assert_int_equal(uncore_find_metric(link.handle, "hbm.read"), -ENOENT);
	expect_text("hbm.read");
	assert_int_equal(uncore_find_metric(link.handle, NULL), -EINVAL);
	assert_string_equal(uncore_why(link.handle, 1), "this machine has no such event");
	assert_non_null(uncore_why(link.handle, 99));
	link_close(&link);
}

CASE("sockets are described")
{
	struct uncore_socket socket = UNCORE_SOCKET_INIT;
	struct link link;

	link_open(&link);
	assert_int_equal(uncore_describe_socket(link.handle, 1, &socket), 0);
	assert_int_equal(socket.package, 2);
	assert_int_equal(socket.cpu, 8);
	assert_int_equal(socket.first_channel, FAKE_CHANNELS);
	assert_int_equal(socket.n_channels, FAKE_CHANNELS);
	assert_int_equal(uncore_describe_socket(link.handle, FAKE_SOCKETS, &socket), -ENOENT);
	expect_text("no socket 2");
	assert_int_equal(uncore_describe_socket(NULL, 0, &socket), -EINVAL);
	assert_int_equal(uncore_describe_socket(link.handle, 0, NULL), -EINVAL);
	socket.size--;
	assert_int_equal(uncore_describe_socket(link.handle, 0, &socket), -EINVAL);
	link_close(&link);
}

CASE("channels are described")
{
	struct uncore_channel channel = UNCORE_CHANNEL_INIT;
	struct link link;

	link_open(&link);
	assert_int_equal(uncore_describe_channel(link.handle, 4, &channel), 0);
	assert_int_equal(channel.socket, 1);
	assert_string_equal(channel.name, "imc1");
	assert_string_equal(channel.pmu, "uncore_imc_1");
	assert_string_equal(channel.event, "cas_count_read");
	assert_int_equal(channel.cpu, 8);
	assert_int_equal(channel.bytes, 64);
	assert_int_equal(
		uncore_describe_channel(link.handle, FAKE_SOCKETS * FAKE_CHANNELS, &channel),
		-ENOENT);
	channel.size = 0;
	assert_int_equal(uncore_describe_channel(link.handle, 0, &channel), -EINVAL);
	link_close(&link);
}

CASE("the daemon is described")
{
	struct uncore_daemon about = UNCORE_DAEMON_INIT;
	struct link link;

	link_open(&link);
	fake_daemon_deafen(&link.daemon);
	for (uint32_t s = 0; s < FAKE_SOCKETS; s++) {
		fake_daemon_sweep(&link.daemon, s);
		page_tell_cost(fake_daemon_cell(&link.daemon, s), 100 + s, 10 + s);
	}
	assert_int_equal(uncore_describe_daemon(link.handle, &about), 0);
	assert_int_equal(about.n_clients, 3);
	assert_int_equal(about.started_ns, 5);
	assert_int_equal(about.refused, 4);
	assert_int_equal(about.sweeps, atomic_load(&link.daemon.sweeps));
	assert_int_equal(about.throttled, 21);
	assert_int_equal(about.cpu_ns, 201);
	assert_int_equal(about.min_interval_ns, 0);
	__atomic_store_n(&link.daemon.page->daemon.min_interval_ns, 7, __ATOMIC_RELAXED);
	assert_int_equal(uncore_describe_daemon(link.handle, &about), 0);
	assert_int_equal(about.min_interval_ns, 7);
	assert_int_equal(about.quantum, 0);
	page_wakeup_tell_quantum(&link.daemon.wakeups[0], 4096);
	assert_int_equal(uncore_describe_daemon(link.handle, &about), 0);
	assert_int_equal(about.quantum, 4096);
	about.size = 0;
	assert_int_equal(uncore_describe_daemon(link.handle, &about), -EINVAL);
	assert_int_equal(uncore_describe_daemon(link.handle, NULL), -EINVAL);
	link_close(&link);
}

CASE("the state comes as JSON")
{
	struct fake_daemon daemon;
	char *json = NULL;

	fake_daemon_start(&daemon, NULL, 1);
	assert_int_equal(uncore_info(daemon.path, &json), 0);
	assert_string_equal(json, "{\"platform\":\"icelake-sp\"}");
	free(json);
	fake_daemon_stop(&daemon);
	assert_int_equal(uncore_info(daemon.path, &json), -ECONNREFUSED);
	fake_daemon_done(&daemon);
}

/* --- reading --- */

CASE("a fresh read begins after the call")
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct link link;

	link_open(&link);
	for (uint32_t i = 1; i <= 200; i++) {
		uint64_t call_ns = clock_now_ns();

		assert_int_equal(uncore_read(link.handle, 1, UNCORE_FRESH, &sample), 0);
		assert_true(sample.begin_ns >= call_ns);
		assert_int_equal(sample.sweep, i);
		assert_int_equal(sample.values[FAKE_WRITE].count, i * FAKE_STEP * 2 * 2);
	}
	assert_int_equal(sample.socket, 1);
	assert_int_equal(sample.n_values, FAKE_METRICS);
	assert_int_equal(sample.generation[1], 7);
	assert_int_equal(sample.values[FAKE_ITOM].quality, UNCORE_ABSENT);
	assert_string_equal(uncore_why(link.handle, sample.values[FAKE_ITOM].why),
		"this machine has no such event");
	link_close(&link);
}

CASE("a cached read causes no sweep")
{
	struct uncore_sample fresh = UNCORE_SAMPLE_INIT, cached = UNCORE_SAMPLE_INIT;
	struct link link;

	link_open(&link);
	assert_int_equal(uncore_read(link.handle, 0, UNCORE_CACHED, &cached), -EAGAIN);
	expect_text("never read yet");
	assert_int_equal(uncore_read(link.handle, 0, UNCORE_FRESH, &fresh), 0);
	assert_int_equal(uncore_read(link.handle, 0, UNCORE_CACHED, &cached), 0);
	assert_memory_equal(&fresh, &cached, sizeof fresh);
	assert_int_equal(atomic_load(&link.daemon.sweeps), 1);
	link_close(&link);
}

CASE("all sockets are read side by side")
{
	struct uncore_sample samples[FAKE_SOCKETS] = { UNCORE_SAMPLE_INIT, UNCORE_SAMPLE_INIT };
	struct link link;

	link_open(&link);
	assert_int_equal(uncore_read_all(link.handle, UNCORE_FRESH, samples, FAKE_SOCKETS), 0);
	for (uint32_t i = 0; i < FAKE_SOCKETS; i++) {
		assert_int_equal(samples[i].socket, i);
		assert_int_equal(samples[i].values[0].count, FAKE_STEP * (i + 1));
	}
	assert_int_equal(
		uncore_read_all(link.handle, UNCORE_FRESH, samples, FAKE_SOCKETS - 1), -EINVAL);
	samples[1].size = 0;
	assert_int_equal(
		uncore_read_all(link.handle, UNCORE_CACHED, samples, FAKE_SOCKETS), -EINVAL);
	link_close(&link);
}

CASE("channels are read")
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct uncore_channel_value values[FAKE_CHANNELS];
	struct link link;

	link_open(&link);
	assert_int_equal(
		uncore_read_channels(link.handle, 1, UNCORE_FRESH, &sample, values, FAKE_CHANNELS),
		FAKE_CHANNELS);
	assert_int_equal(values[2].count, 12);
	assert_int_equal(sample.sweep, 1);
	assert_int_equal(uncore_read_channels(
				 link.handle, 1, UNCORE_FRESH, &sample, values, FAKE_CHANNELS - 1),
		-EINVAL);
	link_close(&link);
}

CASE("wrong arguments are refused")
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct link link;

	link_open(&link);
	assert_int_equal(uncore_read(link.handle, FAKE_SOCKETS, UNCORE_FRESH, &sample), -EINVAL);
	assert_int_equal(uncore_read(link.handle, 0, 2, &sample), -EINVAL);
	assert_int_equal(uncore_read(link.handle, 0, UNCORE_FRESH, NULL), -EINVAL);
	assert_int_equal(uncore_read(NULL, 0, UNCORE_FRESH, &sample), -EINVAL);
	assert_int_equal(uncore_set_timeout(link.handle, 0), -EINVAL);
	sample.size++;
	assert_int_equal(uncore_read(link.handle, 0, UNCORE_FRESH, &sample), -EINVAL);
	link_close(&link);
}

/* The sample must be as it was after each failure. */
static void expect_failure(struct uncore *handle, int how, int error)
{
	struct uncore_sample sample, untouched;

	memset(&untouched, 0x55, sizeof untouched);
	untouched.size = sizeof untouched;
	sample = untouched;
	assert_int_equal(uncore_read(handle, 0, how, &sample), error);
	assert_memory_equal(&sample, &untouched, sizeof sample);
}

CASE("a reader that does not answer is ETIMEDOUT")
{
	struct link link;
	uint64_t begin_ns;

	link_open(&link);
	fake_daemon_deafen(&link.daemon);
	fake_daemon_sweep(&link.daemon, 0);
	uncore_set_timeout(link.handle, 20000000);
	begin_ns = clock_now_ns();
	expect_failure(link.handle, UNCORE_FRESH, -ETIMEDOUT);
	assert_true(clock_now_ns() - begin_ns >= 20000000);
	expect_text("socket 0 within 20 ms");
	link_close(&link);
}

/* What the reader has promised to this user, at most 20 ms later, and what the text says. */
static void expect_reason(struct link *link, uint64_t due_ns, const char *reason)
{
	if (due_ns)
		page_wakeup_claim(&link->daemon.wakeups[0], due_ns);
	expect_failure(link->handle, UNCORE_FRESH, -ETIMEDOUT);
	expect_text("socket 0 within 20 ms, this program's limit: ");
	expect_text(reason);
}

CASE("a reader that stands still is told from a spent budget")
{
	static const char *const still =
		"limit: its reader got no CPU time, or hangs, or a reading "
		"takes longer: see `systemctl status uncored`.";
	struct link link;

	link_open(&link);
	fake_daemon_deafen(&link.daemon);
	uncore_set_timeout(link.handle, 20000000);
	expect_reason(&link, 0, still);
	expect_reason(&link, clock_now_ns() + 60000000000,
		"limit: its budget is spent, or the site holds reads back (`uncore info` says "
		"so).");
	expect_reason(&link, clock_now_ns(), still);
	link_close(&link);
}

/* A default limit grows with the policy of the site, also while the handle is open. */
CASE("the default limit makes room for the time that the site holds reads back")
{
	const struct fake_options options = { .min_interval_ns = 150000000 };
	struct fake_daemon daemon;
	struct uncore *handle;
	uint64_t begin_ns;

	fake_daemon_start(&daemon, &options, 1);
	assert_int_equal(uncore_open(daemon.path, &handle), 0);
	assert_int_equal(handle->patience_ns, 10000000000);
	handle->patience_ns = 200000000;
	fake_daemon_deafen(&daemon);
	begin_ns = clock_now_ns();
	expect_failure(handle, UNCORE_FRESH, -ETIMEDOUT);
	assert_true(clock_now_ns() - begin_ns >= 350000000);
	expect_text("socket 0 within 350 ms");
	__atomic_store_n(&daemon.page->daemon.min_interval_ns, 0, __ATOMIC_RELAXED);
	expect_failure(handle, UNCORE_FRESH, -ETIMEDOUT);
	expect_text("socket 0 within 200 ms");
	__atomic_store_n(&daemon.page->daemon.min_interval_ns, 60000000000, __ATOMIC_RELAXED);
	uncore_set_timeout(handle, 20000000); /* holds as it is */
	expect_failure(handle, UNCORE_FRESH, -ETIMEDOUT);
	expect_text("socket 0 within 20 ms");
	uncore_close(handle);
	fake_daemon_stop(&daemon);
	fake_daemon_done(&daemon);
}

static void fill_doorbell(struct link *link)
{
	uint64_t most = UINT64_MAX - 1;

	fake_daemon_deafen(&link->daemon);
	assert_int_equal(write(link->daemon.doorbells[0], &most, sizeof most), sizeof most);
}

CASE("a full doorbell is renewed")
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct link link;

	link_open(&link);
	fill_doorbell(&link);
	assert_int_equal(uncore_read(link.handle, 0, UNCORE_FRESH, &sample), 0);
	assert_int_equal(uncore_read(link.handle, 1, UNCORE_FRESH, &sample), 0);
	link_close(&link);
}

static void *renew_cancelled(void *argument)
{
	struct link *link = argument;

	pthread_cancel(pthread_self());
	handle_renew_doorbells(link->handle);
	pthread_testcancel();
	return NULL;
}

CASE("a thread that is cancelled leaves the connection to others")
{
	struct link link;
	pthread_t thread;
	void *result;

	link_open(&link);
	assert_int_equal(pthread_create(&thread, NULL, renew_cancelled, &link), 0);
	pthread_join(thread, &result);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_int_equal(pthread_mutex_trylock(&link.handle->mark->asking), 0);
	pthread_mutex_unlock(&link.handle->mark->asking);
	assert_int_equal(handle_renew_doorbells(link.handle), 0);
	link_close(&link);
}

/* The daemon has promised a sweep, and makes it without being asked again. */
CASE("nobody rings while a sweep is promised")
{
	struct link link;
	uint64_t rings;

	link_open(&link);
	fake_daemon_deafen(&link.daemon);
	page_wakeup_claim(&link.daemon.wakeups[0], 1);
	uncore_set_timeout(link.handle, 1000000);
	expect_failure(link.handle, UNCORE_FRESH, -ETIMEDOUT);
	assert_int_equal(read(link.daemon.doorbells[0], &rings, sizeof rings), -1);
	page_wakeup_redeem(&link.daemon.wakeups[0]);
	expect_failure(link.handle, UNCORE_FRESH, -ETIMEDOUT);
	assert_int_equal(read(link.daemon.doorbells[0], &rings, sizeof rings), sizeof rings);
	link_close(&link);
}

static void *answer_when_due(void *argument)
{
	struct link *link = argument;

	usleep(500000);
	page_wakeup_claim(&link->daemon.wakeups[0], clock_now_ns() + 500 * 1000000U);
	usleep(500000);
	fake_daemon_sweep(&link->daemon, 0);
	return NULL;
}

/* The ring is put off twice: for 400 ms, then to a second. The limit is 500 ms. */
CASE("a read waits for a ring that is put off")
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct link link;
	pthread_t thread;

	link_open(&link);
	link.handle->timeout_ns = 0; /* no limit of the caller */
	link.handle->patience_ns = 500000000;
	fake_daemon_deafen(&link.daemon);
	page_wakeup_claim(&link.daemon.wakeups[0], clock_now_ns() + 400 * 1000000U);
	assert_int_equal(pthread_create(&thread, NULL, answer_when_due, &link), 0);
	assert_int_equal(uncore_read(link.handle, 0, UNCORE_FRESH, &sample), 0);
	pthread_join(thread, NULL);
	link_close(&link);
}

static void *stop_soon(void *daemon)
{
	usleep(20000);
	fake_daemon_stop(daemon);
	return NULL;
}

/* A read whose limit is a minute must not wait that long for a daemon that has died. */
CASE("a daemon that goes is noticed at once")
{
	struct link link;
	pthread_t thread;
	uint64_t begin_ns;

	link_open(&link);
	uncore_set_timeout(link.handle, 60000000000);
	fake_daemon_deafen(&link.daemon);
	begin_ns = clock_now_ns();
	pthread_create(&thread, NULL, stop_soon, &link.daemon);
	expect_failure(link.handle, UNCORE_FRESH, -ENOTCONN);
	assert_true(clock_now_ns() - begin_ns < 30000000000);
	pthread_join(thread, NULL);
	uncore_close(link.handle);
	fake_daemon_done(&link.daemon);
}

CASE("a daemon that is gone is ENOTCONN")
{
	struct link link;

	link_open(&link);
	uncore_set_timeout(link.handle, 20000000);
	fake_daemon_stop(&link.daemon);
	expect_failure(link.handle, UNCORE_FRESH, -ENOTCONN);
	expect_text("uncored has gone away");
	uncore_set_timeout(link.handle, 60000000000); /* not waited for again */
	expect_failure(link.handle, UNCORE_FRESH, -ENOTCONN);
	uncore_close(link.handle);
	fake_daemon_done(&link.daemon);
}

CASE("a page that was withdrawn is EACCES")
{
	struct link link;

	link_open(&link);
	__atomic_store_n(&link.daemon.page->state, PAGE_RETIRED, __ATOMIC_RELAXED);
	expect_failure(link.handle, UNCORE_FRESH, -EACCES);
	expect_failure(link.handle, UNCORE_CACHED, -EACCES);
	link_close(&link);
}

CASE("a daemon that died while it wrote is EAGAIN")
{
	struct link link;

	link_open(&link);
	fake_daemon_deafen(&link.daemon);
	fake_daemon_sweep(&link.daemon, 0);
	fake_daemon_cell(&link.daemon, 0)->lock |= 1;
	expect_failure(link.handle, UNCORE_CACHED, -EAGAIN);
	link_close(&link);
}

static void *read_many(void *userdata)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	long n_wrong = 0;

	for (int i = 0; i < 500; i++) {
		uint64_t call_ns = clock_now_ns();

		n_wrong += uncore_read(userdata, i % 2, UNCORE_FRESH, &sample) < 0 ||
			   sample.begin_ns < call_ns;
	}
	return (void *)n_wrong;
}

CASE("threads share a handle")
{
	pthread_t threads[4];
	struct link link;
	void *n_wrong;

	link_open(&link);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_many, link.handle), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &n_wrong);
		assert_null(n_wrong);
	}
	link_close(&link);
}

static int count_answers_in_child(struct uncore *handle)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct uncore_machine machine = UNCORE_MACHINE_INIT;
	int n = 0;

	n += uncore_read(handle, 0, UNCORE_CACHED, &sample) == -EINVAL;
	n += uncore_read(handle, 0, UNCORE_FRESH, &sample) == -EINVAL;
	n += uncore_read_all(handle, UNCORE_FRESH, &sample, 1) == -EINVAL;
	n += uncore_describe(handle, &machine) == -EINVAL;
	n += uncore_set_timeout(handle, 1) == -EINVAL;
	n += uncore_find_metric(handle, "dram.read") == -EINVAL;
	n += uncore_metric_name(handle, 0) == NULL;
	n += strstr(uncore_error_text(), "parent") != NULL;
	uncore_close(handle);
	return n;
}

CASE("a forked child's handle says so")
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct link link;
	pid_t pid;
	int status;

	link_open(&link);
	pid = fork();
	if (pid == 0)
		_exit(count_answers_in_child(link.handle));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 8);
	assert_int_equal(uncore_read(link.handle, 0, UNCORE_FRESH, &sample), 0);
	link_close(&link);
}

static void *fail_in_thread(void *userdata)
{
	struct uncore *handle;

	(void)userdata;
	return uncore_open("/nonexistent/thread", &handle) == -ENOENT &&
			       strstr(uncore_error_text(), "/nonexistent/thread")
		       ? NULL
		       : (void *)1;
}

CASE("sentences belong to a thread")
{
	struct uncore *handle;
	pthread_t thread;
	void *failed;

	assert_int_equal(uncore_open("/nonexistent/main", &handle), -ENOENT);
	assert_int_equal(pthread_create(&thread, NULL, fail_in_thread, NULL), 0);
	pthread_join(thread, &failed);
	assert_null(failed);
	expect_text("/nonexistent/main");
}
