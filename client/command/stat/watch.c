/* SPDX-License-Identifier: BSD-3-Clause */
/* `uncore stat` without a command: until a signal, a time, or the end of processes of others. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client/command/frame/command.h"
#include "client/command/stat/stat-run.h"
#include "common/clock.h"
#include "common/macro.h"
#include "common/number.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434 /* Linux 5.3 */
#endif

enum { PROCESSES_MAX = 64 };

/* How soon the end of a process is seen for which the kernel has no descriptor. */
static const uint64_t ASK_NS = 100000000;

/* What note_stop() found, and an eventfd that wakes poll(2) then. */
static volatile sig_atomic_t stopped_by;
static int stop_fd;

static void note_stop(int number)
{
	const int error = errno;

	stopped_by = number;
	eventfd_write(stop_fd, 1);
	errno = error;
}

/* .fds: stop_fd, and one for each process, or -1. */
struct watched {
	unsigned n, n_without;
	pid_t pids[PROCESSES_MAX];
	struct pollfd fds[1 + PROCESSES_MAX];
};

static void watched_close(struct watched *watched)
{
	for (unsigned i = 0; i <= watched->n; i++)
		close_fd(&watched->fds[i].fd);
}

/* --- processes --- */

/* The state and the process of the process or thread @pid; false: /proc does not show it. */
static bool watch_look_at(pid_t pid, char *ret_state, pid_t *ret_process)
{
	char path[32], line[128];
	_cleanup_file_ FILE *file = NULL;
	unsigned n = 0;

	snprintf(path, sizeof path, "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file))
		n += sscanf(line, "State: %c", ret_state) == 1 ||
		     sscanf(line, "Tgid: %d", ret_process) == 1;
	return n == 2;
}

static bool is_alive(const struct watched *watched, unsigned i)
{
	struct pollfd end = watched->fds[1 + i];
	pid_t process;
	char state;

	if (end.fd >= 0)
		return poll(&end, 1, 0) == 0;
	if (watch_look_at(watched->pids[i], &state, &process))
		return state != 'Z' && state != 'X';
	return kill(watched->pids[i], 0) == 0 || errno == EPERM;
}

/* Returns a format for the PID and another one that it may belong to; NULL: it can be watched. */
static const char *watch_add_process(struct watched *watched, pid_t pid, pid_t *ret_process)
{
	const unsigned i = watched->n++;
	char state;

	watched->pids[i] = pid;
	watched->fds[1 + i] = (struct pollfd){ .fd = -1, .events = POLLIN };
	if (watch_look_at(pid, &state, ret_process) && *ret_process != pid)
		return "%d is a thread of process %d; say -p with the number of the process.";
	watched->fds[1 + i].fd = (int)syscall(SYS_pidfd_open, pid, 0);
	watched->n_without += watched->fds[1 + i].fd < 0;
	if (is_alive(watched, i))
		return NULL;
	return watched->fds[1 + i].fd >= 0
		       ? "Process %d has ended already."
		       : "There is no process %d here. A container has numbers of its own.";
}

static int open_processes(struct stat_run *run, struct watched *watched)
{
	const char *rest = run->options.pids, *why = NULL;
	char text[256] = "-p takes numbers of at most 64 processes, like 42,43.";
	uint64_t number = 1;

	while (rest && number && !why && watched->n < PROCESSES_MAX) {
		pid_t process = 0;

		rest = number_parse(rest, 10, INT32_MAX, &number);
		if (rest && number)
			why = watch_add_process(watched, (pid_t)number, &process);
		if (why)
			snprintf(text, sizeof text, why, (pid_t)number, process);
		if (rest && !*rest && number && !why)
			return 0;
		rest = rest && *rest == ',' ? rest + 1 : NULL;
	}
	stat_complain(run, text);
	return -1;
}

/* --- waiting --- */

/* Has every process ended? Their descriptors are not waited for any more. */
static bool have_ended(struct watched *watched)
{
	bool one_lives = !watched->n;

	for (unsigned i = 0; i < watched->n; i++)
		if (is_alive(watched, i))
			one_lives = true;
		else
			watched->fds[1 + i].events = 0;
	return !one_lives;
}

static void wait_until(struct watched *watched, uint64_t deadline_ns)
{
	uint64_t left_ns = clock_left_ns(deadline_ns, 0);
	struct timespec left;

	if (watched->n_without && left_ns > ASK_NS)
		left_ns = ASK_NS;
	left = clock_timespec(left_ns);
	ppoll(watched->fds, 1 + watched->n, &left, NULL);
}

static void watch_processes(struct stat_run *run, struct watched *watched)
{
	const uint64_t step_ns = run->options.step_ns, for_ns = run->options.for_ns;
	const uint64_t end_ns = for_ns ? clock_deadline_ns(for_ns) : UINT64_MAX;
	uint64_t tick_ns = step_ns ? clock_now_ns() + step_ns : UINT64_MAX;

	while (!stopped_by && clock_now_ns() < end_ns && !have_ended(watched)) {
		wait_until(watched, tick_ns < end_ns ? tick_ns : end_ns);
		/* The end of the last interval is that of the whole. */
		if (tick_ns <= clock_now_ns() && tick_ns < end_ns)
			tick_ns = stat_tick(run, tick_ns);
	}
}

int stat_watch(struct stat_run *run)
{
	_cleanup_(watched_close) struct watched watched = { .fds[0] = { .fd = -1 } };
	uint64_t start_ns;

	if (run->options.pids && open_processes(run, &watched) < 0)
		return EXIT_NOT_MEASURED;
	stop_fd = eventfd(0, EFD_CLOEXEC);
	watched.fds[0] = (struct pollfd){ .fd = stop_fd, .events = POLLIN };
	child_note_stop(note_stop);
	run->number = 1;
	if (stat_read(run, &run->before) < 0)
		return EXIT_NOT_MEASURED;
	stat_begin(run);
	if (!run->options.interval_ns && isatty(STDERR_FILENO))
		fprintf(stderr, "uncore stat: counts all that the sockets do, until %s.\n",
			run->options.for_ns ? "its time is over, or Ctrl-C"
			: run->options.pids ? "the processes have ended, or Ctrl-C"
					    : "Ctrl-C");
	start_ns = clock_now_ns();
	watch_processes(run, &watched);
	stat_take_result(run, clock_now_ns() - start_ns, false);
	return stopped_by ? EXIT_BY_SIGNAL + stopped_by : 0;
}
