/* SPDX-License-Identifier: BSD-3-Clause */
/* A child that its parent kills at a chosen system call, or lets go on by one instruction
 * (ptrace(2)). */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/test.h"

enum {
	TRACED_CALL = SIGTRAP | 0x80 /* the signal of a stop at a system call */,
	TRACED_KILLED = -1
};

/* In the child: it is traced from now on, and stops until its parent has waited for that. */
static inline void traced_begin(void)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		_exit(255);
	raise(SIGSTOP);
}

/* False: it has ended. */
static inline bool traced_stops(pid_t pid, int *ret_status)
{
	assert_int_equal(waitpid(pid, ret_status, 0), pid);
	assert_true(WIFSTOPPED(*ret_status) || WIFEXITED(*ret_status));
	return WIFSTOPPED(*ret_status);
}

static inline void traced_kill(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

/*
 * Kills the child before or after a system call, at the @nth of these stops. Returns the exit
 * status of one that ended before; TRACED_KILLED. With 0 it only waits: the child is not traced.
 */
static inline int traced_kill_at(pid_t pid, unsigned nth)
{
	int status;

	for (unsigned n = 0; traced_stops(pid, &status); n++) {
		if (n == 0)
			assert_int_equal(
				ptrace(PTRACE_SETOPTIONS, pid, NULL,
					(void *)(long)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)),
				0);
		else
			assert_int_equal(WSTOPSIG(status), TRACED_CALL);
		if (n == nth) {
			traced_kill(pid);
			return TRACED_KILLED;
		}
		assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
	}
	return WEXITSTATUS(status);
}

/* One instruction of a child that has stopped. False: it has ended. */
static inline bool traced_step(pid_t pid)
{
	int status;

	assert_int_equal(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), 0);
	return traced_stops(pid, &status);
}
