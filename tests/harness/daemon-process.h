/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The real uncored on a machine tree, in a private directory with a private socket, and programs
 * run against it. Needs root (or CAP_PERFMON); clients are run as the unprivileged user 65534.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tests/harness/service-manager.h"
#include "tests/harness/test.h"

enum { NOBODY = 65534, SOMEBODY = 65533, OUTPUT_MAX = 65536, ARGUMENTS_MAX = 24 };

/* A file of /etc. */
struct etc_file {
	const char *name, *text;
};

enum { ETC_FILES_MAX = 2 };

struct daemon_process {
	unsigned descriptor_limit;  /* set before the start: RLIMIT_NOFILE; 0: as it is */
	unsigned watchdog_s;        /* set before the start: WatchdogSec=; 0: none */
	unsigned realtime_limit_ms; /* set before the start: RLIMIT_RTTIME; 0: as it is */
	bool stops_first;           /* set before the start: SIGSTOP, so that it can be traced */
	const char *release; /* set before the start: folder of the build tree with another uncored
				and its conf/platforms; NULL: this one */
	void (*in_child)(
		const struct daemon_process *); /* ... what it does last before execve(2) */
	const char *platforms;              /* ... folder of platform files; NULL: the release's */
	struct etc_file etc[ETC_FILES_MAX]; /* ... what it has in place of this computer's files */
	pid_t pid;
	struct service_manager manager;
	char directory[64];
	char socket_path[96];
	char log_path[96];
};

/* The result of a program that ran to its end. */
struct run {
	int status;              /* exit status, or 128 + signal */
	char output[OUTPUT_MAX]; /* stdout and stderr together, as text */
};

/* The daemon of run_on_daemon(). */
extern struct daemon_process the_daemon;

/*
 * As run_cases(), where there is privilege; the second one starts the_daemon on @machine before,
 * and stops it after.
 */
int run_privileged_cases(CMFixtureFunction set_up_all, CMFixtureFunction tear_down_all);
int run_on_daemon(const char *machine, const char *config);

/* False, with a line for the log, where the suite cannot run at all: no privilege. */
bool system_tests_can_run(void);

/*
 * Starts uncored on tests/machines/@machine (or on the tree at this absolute path) with @config as
 * its configuration (NULL: defaults) and waits, ten seconds at most, until it says READY. Fails the
 * case if it does not.
 */
void daemon_start(struct daemon_process *daemon, const char *machine, const char *config);

/*
 * As daemon_start(), but as systemd would: with a listening socket, which stays when it ends.
 * @keeps: and with a descriptor store.
 */
void daemon_start_activated(
	struct daemon_process *daemon, const char *machine, const char *config, bool keeps);

/* Sends SIGKILL, then does what the daemon had asked of its service manager. */
void daemon_kill(struct daemon_process *daemon);

/*
 * As systemd with WatchdogSec=: waits until no sign of life came for daemon->watchdog_s, and then
 * sends SIGABRT. SIGCONT follows, because a stopped process takes no other signal. Fails the case
 * if there are signs of life for a minute. The caller still has to call daemon_ended_by().
 */
void daemon_abort_when_silent(struct daemon_process *daemon);

/* Waits until the daemon has ended by @sig, then does what it had asked of its service manager. */
void daemon_ended_by(struct daemon_process *daemon, int sig);

/*
 * After the daemon has ended: starts another in the same directory, on the same socket, with the
 * descriptors that the service manager has kept. daemon_launch() does not wait for READY.
 */
void daemon_launch(struct daemon_process *daemon, const char *machine);
void daemon_restart(struct daemon_process *daemon, const char *machine);

/* Writes another configuration, which the next daemon reads. $UNCORE_TEST_SWEEP is its method of
 * [sweep]; if it is not set, the default holds, unless @config has another. */
void daemon_configure(const struct daemon_process *daemon, const char *config);

/* Writes another text into the file daemon->etc[@i]. */
void daemon_write_etc(const struct daemon_process *daemon, unsigned i, const char *text);

/*
 * Sends SIGHUP. Fails the case unless the daemon tells its service manager RELOADING=1 and then
 * READY=1, both within ten seconds.
 */
void daemon_hang_up(struct daemon_process *daemon);

/* As daemon_hang_up(), after writing another configuration. */
void daemon_reload(struct daemon_process *daemon, const char *config);

/* How many lines of its log hold @part. */
unsigned daemon_logged(const struct daemon_process *daemon, const char *part);

/* Removes the directory of a daemon that has ended; fails if it left anything behind. */
void daemon_remove(struct daemon_process *daemon);

/* SIGTERM; fails the case unless it exits with status 0 within ten seconds. */
void daemon_stop(struct daemon_process *daemon);

/* Entries of /proc/PID/fd: its open descriptors, "." and "..". */
long daemon_descriptors(const struct daemon_process *daemon);

/* Its resident memory. */
uint64_t daemon_rss_kib(const struct daemon_process *daemon);

/* Runs uncored to its end with these arguments (NULL-terminated); --platforms is added. */
void daemon_run(struct run *ret, const char *const arguments[]);

/*
 * connect_raw() connects without the library; connect_hello() also says hello and has the page and
 * the doorbells in @ret. Both return the connection. They end the process if they fail, so that a
 * child may call them, too.
 */
struct wire_packet;
int connect_raw(const struct daemon_process *daemon);
int connect_hello(const struct daemon_process *daemon, struct wire_packet *ret);

/* What `uncore info --json` prints; for json_object_put(). */
struct json_object;
struct json_object *daemon_info(const struct daemon_process *daemon);

/* The value of a top-level or "socket 0" number in `uncore info --json`. */
uint64_t daemon_number(const struct daemon_process *daemon, const char *key);
uint64_t daemon_socket_number(
	const struct daemon_process *daemon, unsigned socket, const char *key);

/* Runs a program to its end, at most 60 s; @uid 0: as we are. */
void run_program(struct run *ret, uid_t uid, const char *const arguments[]);

/* Runs `uncore` of this build as nobody. */
void run_uncore(struct run *ret, const char *const arguments[]);

/* For a child: becomes @uid with CAP_PERFMON and no more, as by User= and AmbientCapabilities= of
 * systemd. False: errno says why not. */
bool become_service(uid_t uid);

/*
 * Forks a child that becomes @uid, or nobody, runs @body(@argument) and exits with what it returns.
 * @body must not use cmocka's asserts. Returns the pid of the child; as_nobody() returns its exit
 * status.
 */
pid_t start_as(uid_t uid, int (*body)(void *argument), void *argument);
pid_t start_as_nobody(int (*body)(void *argument), void *argument);
int as_nobody(int (*body)(void *argument), void *argument);

/* Waits for @pid, @timeout_s at most (then it is killed and -1 is returned). */
int wait_for(pid_t pid, int timeout_s);

/* Paths in the build and source trees; the text lives until the next call. */
const char *build_path(const char *relative);
const char *source_path(const char *relative);

void pin_to_cpu(int cpu);

/* Touches @n new pages, one fault each, and unmaps them. */
void touch_pages(unsigned n);

/* How many sockets the stand-in has here. */
unsigned standin_sockets(void);
