/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measured command as a child process, held at a gate until the first reading is taken, so that
 * fork() is not measured and as little as possible of ourselves is.
 *
 * Signals that would end us are for the command: we stay to report. Those that a terminal sends
 * reach it by themselves; the others are passed on.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct child_signals {
	sigset_t mask;               /* ours as it was, for the command to inherit, as the next */
	struct sigaction chld, pipe; /* two */
	sigset_t awaited;            /* blocked in us */
	bool stop;                   /* one of them asked for an end */
};

struct child {
	pid_t pid;
	int gate;
};

/* To be called once. What was ignored when we were started stays so, in us and in the command. */
void child_take_signals(struct child_signals *ret);

/* Has the user, or whoever else may, asked for an end since the beginning? */
bool child_told_to_stop(struct child_signals *signals);

/* 0, negative errno. */
int child_new(char **argv, const struct child_signals *signals, struct child *ret);

/* Lets it run. 0; a negative errno of execvp(3): there is no command, and no process any more. */
int child_go(struct child *child);

/* Kills one that was not let go. */
void child_cancel(struct child *child);

/*
 * Waits until it ends or @deadline_ns (CLOCK_MONOTONIC; UINT64_MAX: none), and passes signals on to
 * it. 1: it has ended, with the status of waitpid(2); 0: it runs; negative errno.
 */
int child_wait(const struct child *child, struct child_signals *signals, uint64_t deadline_ns,
	int *ret_status);
