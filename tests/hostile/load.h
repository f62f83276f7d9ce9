/* SPDX-License-Identifier: BSD-3-Clause */
/* What the processes of an attack take of the machine, and others that take as much. */
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
	unsigned n_modest;  /* ... that slept in between */
	double modest_cpus; /* that those took together */
	double cpus;        /* that all took */
};

void load_sample(const pid_t groups[], unsigned n_groups, struct load_sample *ret);
struct load load_between(const struct load_sample *from, const struct load_sample *to);

/* Different memfds that @daemon and these groups hold; those handed out are in both. */
unsigned load_count_memfds(pid_t daemon, const pid_t groups[], unsigned n_groups);

/* As many processes as @load had threads that were not idle, which take as much. */
struct burners {
	pid_t pids[BURNERS_MAX];
	unsigned n;
};

void burners_start(struct burners *burners, const struct load *load);
void burners_stop(struct burners *burners);
