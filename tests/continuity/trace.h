/* SPDX-License-Identifier: BSD-3-Clause */
/* Killing uncored at a chosen point of its life, as its tracer (ptrace(2)). */
#pragma once

#include "tests/harness/daemon-process.h"

/*
 * Starts the daemon and kills it at the @nth stop before or after a system call of any of its
 * threads, counted from its first, or from when it maps the shared memory whose name holds @mapped.
 * Returns the number of stops: less than @nth if the daemon became ready before, and was killed
 * then.
 */
unsigned trace_start(
	struct daemon_process *daemon, const char *machine, const char *mapped, unsigned nth);

/*
 * Attaches to the running daemon, has @ring ask for a sweep of socket 0, and kills it: at the @nth
 * stop at a system call of any thread, or after the @nth instruction of the reader of that socket.
 * Returns the number of stops or instructions: less than @nth if the daemon came to rest before,
 * and was killed then.
 */
unsigned trace_calls(
	struct daemon_process *daemon, void (*ring)(void *), void *argument, unsigned nth);
unsigned trace_instructions(
	struct daemon_process *daemon, void (*ring)(void *), void *argument, unsigned nth);

/*
 * Attaches to the reader of socket 0, has @ring ask for a sweep, and stops the reader after the
 * first instruction at which @is_there is true. Returns the thread, which stays stopped.
 */
pid_t trace_hold(struct daemon_process *daemon, void (*ring)(void *), void *argument,
	bool (*is_there)(void *), void *there_argument);

/* Lets a thread that is held go on, in an endless loop at the instruction where it is. */
void trace_let_loop(pid_t tid);

/* Waits for the end of a held thread while its process is killed. */
void trace_reap(pid_t tid);

/* As trace_instructions(), and calls @look after each instruction. */
unsigned trace_looking(struct daemon_process *daemon, void (*ring)(void *), void *argument,
	void (*look)(void *), void *look_argument);
