/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CPU on which a reader's thread sits: that in charge of its socket's counters, where reading
 * them interrupts nobody. When that CPU goes offline, the kernel gives the counters to another one
 * of the package, lets the thread run anywhere (kernel/sched/core.c, select_fallback_rq), and
 * takes neither back when the CPU returns. So the thread looks where the counters are.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct affinity {
	int cpu;         /* -1: any */
	const char *pmu; /* borrowed; one of those that are read */
	uint32_t package;
	uint64_t looked_ns; /* when its thread last looked for another CPU */
};

/* Lets @thread run on affinity->cpu only. False: it may not, or the CPU is offline. */
bool affinity_set(const struct affinity *affinity, pthread_t thread);

/*
 * By the thread that sits there, now and then: if it runs elsewhere, it goes to the CPU that is in
 * charge now, or back to its own where sysfs does not tell. At most once a second; costs next to
 * nothing while it runs where it should. True: affinity->cpu is another one.
 */
bool affinity_follow(struct affinity *affinity, uint64_t now_ns);

/* The CPU of @package that is in charge of @pmu's counters, on the machine below @root_fd. -ENOENT:
 * none of it is, or sysfs does not tell; -ENOMEM, errno of openat(2) and read(2). */
int affinity_find(int root_fd, const char *pmu, uint32_t package);
