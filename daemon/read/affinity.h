/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CPU on which a reader's thread runs: the CPU in charge of its socket's counters. When that
 * CPU goes offline, the kernel gives the counters to another CPU of the package and lets the thread
 * run anywhere (kernel/sched/core.c, select_fallback_rq), and undoes neither when the CPU returns.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/plan/plan.h"

/* Of PMUs that the platform file gives their sockets: their CPU may be of another package. */
#define AFFINITY_ANY_PACKAGE UINT32_MAX

struct affinity {
	int cpu;         /* -1: any */
	const char *pmu; /* borrowed; a PMU that the thread reads */
	uint32_t package;
	uint64_t looked_ns; /* when its thread last looked for another CPU */
};

/* The CPU on which @plan has most boxes of @socket. Borrows the name of a PMU from @plan. */
struct affinity affinity_of(const struct plan *plan, unsigned socket);

/* Lets @thread run on affinity->cpu only. False: @thread may not, or the CPU is offline. */
bool affinity_set(const struct affinity *affinity, pthread_t thread);

/*
 * The thread of @affinity calls this now and then. If the thread runs elsewhere, it moves to the
 * CPU that is in charge now, or back to its own CPU if sysfs does not name one. It looks at most
 * once a second; the call costs next to nothing while the thread runs where it should. True:
 * affinity->cpu has changed.
 */
bool affinity_follow(struct affinity *affinity, uint64_t now_ns);

/* The online CPU of @package that is in charge of @pmu's counters, on the machine below @root_fd.
 * -ENOENT: no CPU of @package is in charge, or sysfs names none; -ENOMEM, errno of openat(2) and
 * read(2). */
int affinity_find(int root_fd, const char *pmu, uint32_t package);
