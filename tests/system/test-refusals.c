/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the daemon says and does when the kernel refuses boxes, when it has too few descriptors, and
 * when its socket is taken; and clients that it refuses.
 */
#include "tests/harness/daemon-process.h"
#include "tests/harness/test.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/macro.h"
#include "common/wire.h"

static struct run run;
static char directory[64];

static int make_directory(void **state)
{
	strcpy(directory, "/tmp/uncored-refusals-XXXXXX");
	assert_non_null(mkdtemp(directory));
	assert_int_equal(chown(directory, NOBODY, NOBODY), 0);
	return 0;
}

static int remove_directory(void **state)
{
	return rmdir(directory);
}

static const char *in_directory(const char *name)
{
	static char path[128];

	snprintf(path, sizeof path, "%s/%s", directory, name);
	return path;
}

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(in_directory(name), "we");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* uncored must end with status 1 and a line that holds every one of these words. */
static void assert_refused(const char *const words[])
{
	if (run.status != 1)
		print_message("%s\n", run.output);
	assert_int_equal(run.status, 1);
	for (; *words; words++)
		if (!strstr(run.output, *words))
			fail_msg("no '%s' in: %s", *words, run.output);
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

CASE("--check needs no privilege")
{
	char program[512], root[512], platforms[512];
	const char *const arguments[] = { program, "--check", "--json", "--root", root,
		"--platforms", platforms, NULL };
	struct json_object *report;

	snprintf(program, sizeof program, "%s", build_path("daemon/uncored"));
	snprintf(root, sizeof root, "%s", build_path("tests/machines/sapphire-rapids"));
	snprintf(platforms, sizeof platforms, "%s", source_path("conf/platforms"));
	run_program(&run, NOBODY, arguments);
	assert_int_equal(run.status, 0);
	report = json_tokener_parse(run.output);
	assert_non_null(report);
	assert_string_equal(json_object_get_string(json_object_object_get(report, "platform")),
		"sapphire-rapids");
	json_object_put(report);
}

CASE("--check tells by its status what is wrong")
{
	static const struct {
		const char *machine, *config;
		int status;
	} cases[] = {
		{ "sapphire-rapids", "/dev/null", 0 },
		{ "sapphire-rapids", "/etc/passwd", 1 },
		{ "sapphire-rapids", "/nonexistent", 1 },
		{ "unknown", "/etc/passwd", 1 },
		{ "unknown", "/dev/null", 3 },   /* no platform file */
		{ "graviton4", "/dev/null", 3 }, /* known to have no counters */
		{ "zen3-broken", "/dev/null", 3 },
	};
	char program[512], root[512], platforms[512];

	snprintf(program, sizeof program, "%s", build_path("daemon/uncored"));
	snprintf(platforms, sizeof platforms, "%s", source_path("conf/platforms"));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(
			root, sizeof root, "%s/%s", build_path("tests/machines"), cases[i].machine);
		run_program(&run, NOBODY,
			(const char *const[]){ program, "--check", "--root", root, "--platforms",
				platforms, "--config", cases[i].config, NULL });
		if (run.status != cases[i].status)
			fail_msg("%s with %s: status %d, should be %d: %s", cases[i].machine,
				cases[i].config, run.status, cases[i].status, run.output);
	}
}

/* --- running on less than everything --- */

static void read_dram(const struct daemon_process *daemon, unsigned socket,
	struct uncore_value *ret, char *ret_why)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct uncore *uncore;

	assert_int_equal(uncore_open(daemon->socket_path, &uncore), 0);
	assert_int_equal(uncore_read(uncore, socket, UNCORE_FRESH, &sample), 0);
	*ret = sample.values[uncore_find_metric(uncore, "dram.read")];
	snprintf(ret_why, UNCORE_TEXT_MAX, "%s", uncore_why(uncore, ret->why));
	uncore_close(uncore);
}

CASE("a box that the kernel refuses leaves its metrics partial")
{
	struct daemon_process daemon = {};
	struct uncore_value value;
	char why[UNCORE_TEXT_MAX];
	char *info;

	daemon_start(&daemon, "standin-broken", NULL);
	read_dram(&daemon, 0, &value, why);
	assert_int_equal(uncore_info(daemon.socket_path, &info), 0);
	daemon_stop(&daemon);
	assert_true(value.quality & UNCORE_PARTIAL);
	assert_false(value.quality & UNCORE_ABSENT);
	assert_non_null(strstr(info, "uncore_standin_1"));
	assert_non_null(strstr(info, "cpumask"));
	free(info);
}

/* 96 boxes of three events want 288 descriptors; the last socket's are opened last. */
CASE("with too few descriptors for all counters the rest is served")
{
	struct daemon_process daemon = { .descriptor_limit = 250 };
	struct uncore_value first, last;
	char why[UNCORE_TEXT_MAX];

	if (standin_sockets() < 2)
		skip();
	daemon_start(&daemon, "standin-wide", NULL);
	read_dram(&daemon, 0, &first, why);
	read_dram(&daemon, 1, &last, why);
	daemon_stop(&daemon);
	assert_int_equal(first.quality, UNCORE_STANDIN);
	assert_int_equal(last.quality, UNCORE_STANDIN | UNCORE_PARTIAL);
}

CASE("a running daemon holds no capability")
{
	struct daemon_process daemon = {};
	char command[160];

	daemon_start(&daemon, "standin", NULL);
	snprintf(command, sizeof command,
		"cd /proc/%d/task && cat %d/status $(grep -l socket */comm | sed s/comm/status/) | "
		"grep -E 'Cap(Prm|Eff)' | sort -u",
		daemon.pid, daemon.pid); /* a sanitizer has a thread of its own */
	run_program(&run, 0, (const char *const[]){ "sh", "-c", command, NULL });
	daemon_stop(&daemon);
	assert_string_equal(run.output, "CapEff:\t0000000000000000\nCapPrm:\t0000000000000000\n");
}

/* Each reader must run on its socket's CPU alone, in SCHED_FIFO. */
CASE("readers are pinned, and real-time")
{
	struct daemon_process daemon = {};
	char command[256], expected[64];

	daemon_start(&daemon, "standin", NULL);
	for (unsigned s = 0; s < standin_sockets(); s++) {
		snprintf(command, sizeof command,
			"cd /proc/%d/task; for t in *; do [ $(cat $t/comm) = socket%u ] && "
			"taskset -cp $t && chrt -p $t; done | sed 's/.*: //'",
			daemon.pid, s);
		run_program(&run, 0, (const char *const[]){ "sh", "-c", command, NULL });
		snprintf(expected, sizeof expected, "%u\nSCHED_FIFO\n1\n", s);
		if (strcmp(run.output, expected))
			break;
	}
	daemon_stop(&daemon);
	assert_string_equal(run.output, expected);
}

/* --- the socket --- */

CASE("a second daemon on one socket is refused")
{
	struct daemon_process daemon = {};
	char root[512];

	daemon_start(&daemon, "standin", NULL);
	snprintf(root, sizeof root, "%s", build_path("tests/machines/standin"));
	daemon_run(&run, (const char *const[]){ "--root", root, "--socket", daemon.socket_path,
				 "--config=/dev/null", NULL });
	assert_refused(WORDS(daemon.socket_path, "is taken by another uncored"));
	daemon_stop(&daemon);
}

/* connect(2) to an ordinary file fails as it does to a socket that nobody serves. */
CASE("a file that is not a socket is left alone")
{
	char root[512], path[128];

	write_file("precious", "data\n");
	snprintf(path, sizeof path, "%s", in_directory("precious"));
	snprintf(root, sizeof root, "%s", build_path("tests/machines/standin"));
	daemon_run(&run, (const char *const[]){
				 "--root", root, "--socket", path, "--config=/dev/null", NULL });
	assert_refused(WORDS(path, "not a socket"));
	assert_int_equal(unlink(path), 0);
}

CASE("a socket left by a killed daemon is taken over")
{
	struct daemon_process daemon = {};

	daemon_start(&daemon, "standin", NULL);
	daemon_kill(&daemon);
	/* Start it again in the directory where the socket was left. */
	daemon_restart(&daemon, "standin");
	daemon_stop(&daemon);
}

CASE("a socket passed by systemd is served and left alone")
{
	struct daemon_process daemon = {};
	struct uncore_value value;
	char why[UNCORE_TEXT_MAX];

	daemon_start_activated(&daemon, "standin", NULL, false);
	read_dram(&daemon, 0, &value, why);
	assert_false(value.quality & UNCORE_ABSENT);
	/* The daemon must not remove a socket that it did not make. */
	kill(daemon.pid, SIGTERM);
	assert_int_equal(wait_for(daemon.pid, 10), 0);
	assert_int_equal(access(daemon.socket_path, F_OK), 0);
	daemon_remove(&daemon);
}

CASE("the limit of all clients holds")
{
	struct daemon_process daemon = {};
	struct uncore *handles[5] = {};
	int r[5];

	daemon_start(&daemon, "standin", "[server]\nmax_clients = 4\n");
	for (unsigned i = 0; i < 5; i++)
		r[i] = uncore_open(daemon.socket_path, &handles[i]);
	assert_int_equal(r[3], 0);
	assert_int_equal(r[4], -EDQUOT);
	assert_non_null(strstr(uncore_error_text(), "max_clients in [server] of uncored.conf"));
	for (unsigned i = 0; i < 4; i++)
		uncore_close(handles[i]);
	daemon_stop(&daemon);
}

static int connect_welcomed(const struct daemon_process *daemon)
{
	struct wire_packet packet;
	int fd = connect_hello(daemon, &packet);

	wire_packet_done(&packet);
	return fd;
}

/* Of many requests at once, only as many are answered as one second permits. */
CASE("requests of one connection are rationed")
{
	struct daemon_process daemon = {};
	struct wire_packet packet;
	union wire_message info;
	unsigned n = 0;
	int fd;

	daemon_start(&daemon, "standin", "[server]\nrequests_per_second = 4\n");
	fd = connect_welcomed(&daemon);
	wire_begin(&info, WIRE_INFO);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(wire_send(fd, &info, NULL, 0), 0);
	usleep(300000);
	while (recv(fd, &packet.message, sizeof packet.message, MSG_DONTWAIT) > 0)
		n++;
	close(fd);
	daemon_stop(&daemon);
	assert_in_range(n, 1, 4);
}

/* A client that does not read its answers is dropped before they pile up. */
CASE("a client that does not read its answers is dropped")
{
	struct daemon_process daemon = {};
	union wire_message info;
	unsigned n = 0;
	int fd, r = 0;

	daemon_start(&daemon, "standin", "[server]\nrequests_per_second = 10000\n");
	fd = connect_welcomed(&daemon);
	wire_begin(&info, WIRE_INFO);
	for (; n < 100 && r >= 0; n++) {
		r = wire_send(fd, &info, NULL, 0);
		usleep(1000);
	}
	close(fd);
	daemon_stop(&daemon);
	assert_int_equal(r, -EPIPE);
	assert_in_range(n, 1, 50);
}

/* A sanitizer's own memory cannot be limited. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define MEMORY_CAN_BE_LIMITED
#endif

#ifdef MEMORY_CAN_BE_LIMITED
static void limit_memory(const struct daemon_process *daemon, rlim_t bytes)
{
	const struct rlimit limit = { bytes, RLIM_INFINITY };

	assert_int_equal(prlimit(daemon->pid, RLIMIT_AS, &limit, NULL), 0);
}

/*
 * All clients send at once, so that the event loop has to grow its tables while no memory is left
 * for another client.
 */
CASE("want of memory passes")
{
	enum { CLIENTS = 500, BEFORE = 300 };
	static const char lost[] = "A client could not be taken in";
	struct daemon_process daemon = {};
	struct uncore_value value;
	char why[UNCORE_TEXT_MAX];
	int fds[CLIENTS];
	long at_rest;

	setenv("MALLOC_TOP_PAD_", "0", 1); /* malloc(3) must not keep a reserve */
	daemon_start(&daemon, "standin", "[server]\nmax_clients_per_user = 4096\n");
	unsetenv("MALLOC_TOP_PAD_");
	at_rest = daemon_descriptors(&daemon);
	for (unsigned i = 0; i < BEFORE; i++)
		fds[i] = connect_raw(&daemon);
	for (unsigned i = 0; i < 10000 && daemon_descriptors(&daemon) < at_rest + BEFORE; i++)
		usleep(1000);
	limit_memory(&daemon, 1 << 20); /* it has more already, so it gets no more memory */
	for (unsigned i = BEFORE; i < CLIENTS; i++)
		fds[i] = connect_raw(&daemon);
	for (unsigned i = 0; i < 10000 && !daemon_logged(&daemon, lost); i++)
		usleep(1000);
	kill(daemon.pid, SIGSTOP);
	for (unsigned i = 0; i < CLIENTS; i++)
		send(fds[i], "What?", 5, MSG_NOSIGNAL);
	kill(daemon.pid, SIGCONT);
	for (unsigned i = 0; i < 10000 && daemon_descriptors(&daemon) > at_rest; i++)
		usleep(1000); /* until all are dropped, because "What?" is not a message */
	limit_memory(&daemon, RLIM_INFINITY);
	read_dram(&daemon, 0, &value, why);
	assert_int_equal(daemon_logged(&daemon, lost), 1);
	daemon_stop(&daemon);
	for (unsigned i = 0; i < CLIENTS; i++)
		close(fds[i]);
	assert_false(value.quality & UNCORE_ABSENT);
}

#endif

static int read_for_ever(void *argument)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct uncore *uncore;
	int r;

	if (uncore_open(argument, &uncore) < 0)
		return 1;
	do
		r = uncore_read(uncore, 0, UNCORE_FRESH, &sample);
	while (r == 0);
	return r == -ENOTCONN ? 0 : 1;
}

CASE("SIGTERM under load ends it cleanly and its clients notice")
{
	struct daemon_process daemon = {};
	pid_t clients[4];

	daemon_start(&daemon, "standin", NULL);
	for (unsigned i = 0; i < 4; i++)
		clients[i] = start_as_nobody(read_for_ever, daemon.socket_path);
	usleep(200000);
	daemon_stop(&daemon);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(wait_for(clients[i], 10), 0);
}

int main(void)
{
	return run_privileged_cases(make_directory, remove_directory);
}
