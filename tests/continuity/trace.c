/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/continuity/trace.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macro.h"
#include "tests/harness/traced.h"

enum { REST_NS = 1000000000 /* a busy machine is slow */, THREADS_MAX = 8 };

static const long options =
	PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;

/* Lets a thread go on to its next system call, with the signal that it stopped for, if any. */
static void go_on(pid_t tid, int status)
{
	int sig = WSTOPSIG(status);
	bool is_signal = status >> 16 == 0 && sig != TRACED_CALL && sig != SIGTRAP;

	ptrace(PTRACE_SYSCALL, tid, NULL, (void *)(long)(is_signal ? sig : 0));
}

/*
 * Waits for the end of all threads, so that the next daemon's stops are not mixed up with theirs.
 */
static void kill_traced(struct daemon_process *daemon)
{
	int status;
	pid_t tid;

	kill(daemon->pid, SIGKILL);
	do {
		tid = waitpid(-1, &status, __WALL);
		if (tid > 0 && WIFSTOPPED(status))
			ptrace(PTRACE_CONT, tid, NULL, NULL);
	} while (tid > 0 && (tid != daemon->pid || WIFSTOPPED(status)));
	assert_int_equal(tid, daemon->pid);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	manager_dispatch(&daemon->manager);
}

/* Counts stops at system calls until there were @nth, or until @is_over() is true. */
static unsigned count_stops(
	unsigned nth, bool (*is_over)(void *argument, bool any_stop), void *argument)
{
	unsigned n = 0;

	for (;;) {
		int status;
		pid_t tid = waitpid(-1, &status, __WALL | WNOHANG);

		if (is_over(argument, tid > 0))
			return n;
		if (tid <= 0) {
			assert_int_equal(tid, 0);
			continue;
		}
		assert_true(WIFSTOPPED(status));
		if (WSTOPSIG(status) == TRACED_CALL && ++n == nth)
			return n;
		go_on(tid, status);
	}
}

/* --- the start --- */

static bool is_ready(void *argument, bool any_stop)
{
	struct daemon_process *daemon = argument;

	return !any_stop && manager_dispatch(&daemon->manager);
}

/* Whether a thread is about to map the memory of this name and to share it. */
static bool is_mapping(pid_t tid, int status, const char *name)
{
	struct __ptrace_syscall_info call;
	char path[64], target[64] = "";

	if (WSTOPSIG(status) != TRACED_CALL)
		return false;
	assert_true(ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof call, &call) > 0);
	if (call.op != PTRACE_SYSCALL_INFO_ENTRY || call.entry.nr != SYS_mmap ||
		!(call.entry.args[3] & MAP_SHARED))
		return false;
	snprintf(path, sizeof path, "/proc/%d/fd/%d", tid, (int)call.entry.args[4]);
	return readlink(path, target, sizeof target - 1) > 0 && strstr(target, name);
}

/* So far the daemon has one thread. */
static void go_on_to_mapping(pid_t pid, const char *name)
{
	int status;

	for (;;) {
		assert_int_equal(waitpid(pid, &status, __WALL), pid);
		assert_true(WIFSTOPPED(status));
		if (is_mapping(pid, status, name))
			break;
		go_on(pid, status);
	}
	go_on(pid, status);
}

unsigned trace_start(
	struct daemon_process *daemon, const char *machine, const char *mapped, unsigned nth)
{
	int status;
	unsigned n;

	daemon->stops_first = true;
	daemon_launch(daemon, machine);
	daemon->stops_first = false;
	assert_int_equal(waitpid(daemon->pid, &status, WUNTRACED), daemon->pid);
	assert_int_equal(ptrace(PTRACE_SEIZE, daemon->pid, NULL, (void *)options), 0);
	kill(daemon->pid, SIGCONT);
	if (mapped)
		go_on_to_mapping(daemon->pid, mapped);
	n = count_stops(nth, is_ready, daemon);
	kill_traced(daemon);
	return n;
}

/* --- a sweep --- */

/* True once there were no more stops for REST_NS: all threads sleep in a system call. */
static bool is_at_rest(void *argument, bool any_stop)
{
	uint64_t *since_ns = argument;

	if (any_stop)
		*since_ns = clock_now_ns();
	return clock_now_ns() - *since_ns > REST_NS;
}

static bool is_named(const struct daemon_process *daemon, pid_t tid, const char *name)
{
	char path[64], text[32] = "";
	_cleanup_file_ FILE *file = NULL;

	snprintf(path, sizeof path, "/proc/%d/task/%d/comm", daemon->pid, tid);
	file = fopen(path, "re");
	if (!file || !fgets(text, sizeof text, file))
		return false; /* the thread has ended */
	text[strcspn(text, "\n")] = '\0';
	return !strcmp(text, name);
}

/* Stops the threads of this name, or all if it is NULL. */
static unsigned seize(
	const struct daemon_process *daemon, const char *name, pid_t ret_tids[THREADS_MAX])
{
	char path[64];
	const struct dirent *entry;
	unsigned n = 0;
	DIR *directory;

	snprintf(path, sizeof path, "/proc/%d/task", daemon->pid);
	directory = opendir(path);
	assert_non_null(directory);
	while ((entry = readdir(directory))) {
		pid_t tid = atoi(entry->d_name);
		int status;

		if (!tid || (name && !is_named(daemon, tid, name)))
			continue;
		assert_true(n < THREADS_MAX);
		/* A closer may have ended since it was listed. */
		if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)options) < 0) {
			assert_int_equal(errno, ESRCH);
			continue;
		}
		ret_tids[n++] = tid;
		assert_int_equal(ptrace(PTRACE_INTERRUPT, tid, NULL, NULL), 0);
		assert_int_equal(waitpid(tid, &status, __WALL), tid);
	}
	closedir(directory);
	return n;
}

unsigned trace_calls(
	struct daemon_process *daemon, void (*ring)(void *), void *argument, unsigned nth)
{
	pid_t tids[THREADS_MAX];
	unsigned n_threads = seize(daemon, NULL, tids), n;
	uint64_t since_ns = clock_now_ns();

	ring(argument);
	for (unsigned i = 0; i < n_threads; i++)
		ptrace(PTRACE_SYSCALL, tids[i], NULL, NULL);
	n = count_stops(nth, is_at_rest, &since_ns);
	kill_traced(daemon);
	return n;
}

/* Not so while it waits for a CPU of a busy machine. */
static bool is_asleep(pid_t tid)
{
	char path[64], state = 0;
	_cleanup_file_ FILE *file = NULL;

	snprintf(path, sizeof path, "/proc/%d/stat", tid);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
	return state == 'S';
}

/* One instruction; false: the thread sleeps in a system call. */
static bool step(pid_t tid)
{
	uint64_t deadline_ns = clock_now_ns() + REST_NS;
	pid_t stopped;
	int status;

	assert_int_equal(ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL), 0);
	while ((stopped = waitpid(tid, &status, __WALL | WNOHANG)) == 0)
		if (clock_now_ns() > deadline_ns && is_asleep(tid))
			return false;
	assert_int_equal(stopped, tid);
	assert_true(WIFSTOPPED(status));
	return true;
}

static unsigned trace_reader(struct daemon_process *daemon, void (*ring)(void *), void *argument,
	unsigned nth, void (*look)(void *), void *look_argument)
{
	pid_t tids[THREADS_MAX];
	unsigned n = 0;

	assert_int_equal(seize(daemon, "socket0", tids), 1);
	ring(argument);
	for (; n < nth && step(tids[0]); n++)
		if (look)
			look(look_argument);
	kill_traced(daemon);
	return n;
}

unsigned trace_instructions(
	struct daemon_process *daemon, void (*ring)(void *), void *argument, unsigned nth)
{
	return trace_reader(daemon, ring, argument, nth, NULL, NULL);
}

unsigned trace_looking(struct daemon_process *daemon, void (*ring)(void *), void *argument,
	void (*look)(void *), void *look_argument)
{
	return trace_reader(daemon, ring, argument, UINT_MAX, look, look_argument);
}

/* --- a reader that hangs --- */

pid_t trace_hold(struct daemon_process *daemon, void (*ring)(void *), void *argument,
	bool (*is_there)(void *), void *there_argument)
{
	pid_t tids[THREADS_MAX];

	assert_int_equal(seize(daemon, "socket0", tids), 1);
	ring(argument);
	while (!is_there(there_argument))
		assert_true(step(tids[0]));
	return tids[0];
}

/* Where the instruction pointer is among the registers, and the jump to itself in machine code. */
#if defined __x86_64__
enum { POINTER = 16 };
static const uint8_t jump_to_itself[] = { 0xeb, 0xfe };
#elif defined __aarch64__
enum { POINTER = 32 };
static const uint8_t jump_to_itself[] = { 0x00, 0x00, 0x00, 0x14 };
#elif defined __powerpc64__
enum { POINTER = 32 };
static const uint8_t jump_to_itself[] = { 0x00, 0x00, 0x00, 0x48 };
#endif

void trace_let_loop(pid_t tid)
{
	elf_gregset_t registers;
	struct iovec all = { &registers, sizeof registers };
	long word;

	assert_int_equal(ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &all), 0);
	word = ptrace(PTRACE_PEEKTEXT, tid, (void *)registers[POINTER], NULL);
	memcpy(&word, jump_to_itself, sizeof jump_to_itself);
	assert_int_equal(ptrace(PTRACE_POKETEXT, tid, (void *)registers[POINTER], (void *)word), 0);
	assert_int_equal(ptrace(PTRACE_DETACH, tid, NULL, NULL), 0);
}

void trace_reap(pid_t tid)
{
	int status;

	assert_int_equal(waitpid(tid, &status, __WALL), tid);
	assert_true(WIFSIGNALED(status));
}
