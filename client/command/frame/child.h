/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measured command as a child process. A gate holds it until the first reading is taken, so
 * that the measurement contains neither fork() nor, as far as possible, our own work.
 *
 * Signals that would end us are meant for the command: we stay to report. A terminal sends its
 * signals to the command as well; we pass on the others.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct child_signals {
	sigset_t mask;               /* our mask before; the command inherits it */
	struct sigaction chld, pipe; /* our actions before; it inherits them, too */
	sigset_t awaited;            /* blocked in us */
	int stop;                    /* the one that asked for an end; 0: none has */
	bool wakes;                  /* such a one also ends child_wait() */
};

struct child {
	pid_t pid;
	int gate;
};

/* Call it first. A write beyond the limit of file sizes then fails, and does not end us: a command
 * that succeeded has its status. The second one undoes it, for a process that becomes the command.
 */
void child_outlive_file_limit(void);
void child_return_file_limit(void);

/* Call it once. Signals that we ignored from the start stay ignored, by the command, too. */
void child_take_signals(struct child_signals *ret);

/* Undoes child_take_signals(), for a process that becomes the command itself. */
void child_return_signals(const struct child_signals *signals);

/* For a process without a command: calls @note at the first signal that asks for an end, if we did
 * not ignore it from the start. A second one ends the process at once, whatever it waits for. */
void child_note_stop(void (*note)(int number));

/* Has a signal asked for an end since the beginning? */
bool child_told_to_stop(struct child_signals *signals);

/* Waits until @deadline_ns, or a signal that asks for an end. Returns whether there was one. */
bool child_pause(struct child_signals *signals, uint64_t deadline_ns);

/* 0, negative errno. */
int child_new(char **argv, const struct child_signals *signals, struct child *ret);

/* Lets the command run. 0; negative errno of execvp(3): it cannot run, and its process is gone. */
int child_go(struct child *child);

/* Ends a child that was not let go. */
void child_cancel(struct child *child);

/*
 * Waits until the command ends or @deadline_ns (CLOCK_MONOTONIC; UINT64_MAX: none), and passes
 * signals on to it. 1: it has ended, with the status of waitpid(2); 0: it runs, and the deadline
 * has come, or a signal that wakes (.stop); negative errno.
 */
int child_wait(const struct child *child, struct child_signals *signals, uint64_t deadline_ns,
	int *ret_status);
