/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measured command as a child process, held at a gate until the first reading is taken, so that
 * fork() is not measured and as little as possible of ourselves is.
 */
#pragma once

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

/* Our signals as they were, for the command to inherit. */
struct child_signals {
	sigset_t mask;
	struct sigaction interrupt, quit, chld;
	sigset_t awaited; /* blocked in us: SIGCHLD and those we pass on */
};

struct child {
	pid_t pid;
	int gate;
};

/* Ctrl-C is for the command: we stay to report. To be called once. */
void child_take_signals(struct child_signals *ret);

/* 0, negative errno. */
int child_new(char **argv, const struct child_signals *signals, struct child *ret);

/* Lets it run. 0; a negative errno of execvp(3): there is no command, and no process any more. */
int child_go(struct child *child);

/* Kills one that was not let go. */
void child_cancel(struct child *child);

/*
 * Waits until it ends or @deadline_ns (CLOCK_MONOTONIC; UINT64_MAX: none); SIGTERM and SIGHUP are
 * passed on to it. 1: it has ended, with the status of waitpid(2); 0: it runs; negative errno.
 */
int child_wait(const struct child *child, const struct child_signals *signals, uint64_t deadline_ns,
	int *ret_status);
