/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows of `./dev bench ranks`: many processes of one user, and many users. All run within the
 * limits as shipped, the library's time limits included, and count what fails by its errno.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tests/bench/frame.h"

/* --- calls of all processes, by their results --- */

enum { ERRNOS = 134 };

struct calls {
	uint64_t n;
	uint64_t failed[ERRNOS]; /* calls that returned -ERRNO */
};

/* Counts a call that returned @r; any process. */
void calls_count(struct calls *calls, int r);

/* Adds the number of calls and the number of failures, whose goal is 0. */
void calls_show(const struct calls *calls, const char *what);

/* --- the daemon's CPU time --- */

enum { SOCKETS = 2 };

struct usage {
	uint64_t at_ns;
	uint64_t sweeps, throttled;
	uint64_t reader_ns[SOCKETS], main_ns;
};

struct usage usage_now(const struct daemon_process *daemon);

/* The usage between @before and now. */
struct usage usage_since(const struct daemon_process *daemon, const struct usage *before);

/* CPU time of one sweep, with waking all its waiters. */
double usage_per_sweep_us(const struct usage *spent);

void usage_show(const struct usage *spent);

/*
 * Adds the CPU time of the busiest threads as a share of the CPU time that a thread may take: the
 * budget for as long as it was measured, and the burst that was saved up before.
 */
void usage_show_share(const struct usage *spent);

/* The defaults as shipped; see uncored.conf. */
#define BUDGET_SHARE 0.1
enum { BURST_MS = 200 };

/* --- processes that begin together --- */

struct gate {
	unsigned n_ready;
	uint64_t start_ns; /* 0: not yet */
	uint64_t end_ns;
};

/* For the processes: says that it is ready, and waits. False: the parent has given up. */
bool gate_wait(struct gate *gate);

/* For the parent: waits until @n are ready, and lets them go until @seconds later. */
void gate_open(struct gate *gate, unsigned n, double seconds);

enum { PROCESSES_MAX = 600 };

struct batch_processes {
	pid_t pids[PROCESSES_MAX];
	unsigned n;
};

/* Adds a process that runs @body(@argument) as @uid; its life is limited. */
void batch_add(
	struct batch_processes *batch, uid_t uid, int (*body)(void *argument), void *argument);

/* Waits for the end of all, @timeout_s at most. */
void batch_wait(struct batch_processes *batch, int timeout_s);

/* Users without a name. */
uid_t user_number(unsigned i);

/* --- the rows --- */

void ranks_short(void);
void ranks_long(void);
void ranks_576(void);
void ranks_team(void);
void ranks_team_long(void);
void team_held(void);
void team_held_999(void);
void team_held_traced(void);
void pair_alone(void);
void pair_alone_999(void);
void short_8us(void);
void short_21us(void);
void short_barrier(void);
void wrapper(void);
void users_idle(void);
void users_slow(void);
void users_greedy(void);
void users_rotating(void);

void report_10000(void);
