/* SPDX-License-Identifier: BSD-3-Clause */
/* What the processes of an attack take of the machine, and processes that take as much. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

enum { TASKS_MAX = 4096, BURNERS_MAX = 128 };

struct load_task {
	pid_t tid;
	uint64_t cpu_ns;
	uint64_t wanted_ns; /* ... and the time that it waited for a CPU */
};

/* The threads of some groups of processes. */
struct load_sample {
	uint64_t at_ns;
	unsigned n;
	struct load_task tasks[TASKS_MAX];
};

struct load {
	unsigned n_hungry;  /* threads that wanted a CPU all the time */
	unsigned n_modest;  /* threads that slept in between */
	double modest_cpus; /* CPU time of the modest threads, over elapsed time */
	double cpus;        /* the same of all threads */
};

void load_sample(const pid_t groups[], unsigned n_groups, struct load_sample *ret);
struct load load_between(const struct load_sample *from, const struct load_sample *to);

/* Counts the memfds of @daemon and of these groups; a memfd that both hold counts once. */
unsigned load_count_memfds(pid_t daemon, const pid_t groups[], unsigned n_groups);

/* A process for each thread of @load that was not idle; together they take as much CPU time. */
struct burners {
	pid_t pids[BURNERS_MAX];
	unsigned n;
};

void burners_start(struct burners *burners, const struct load *load);
void burners_stop(struct burners *burners);
