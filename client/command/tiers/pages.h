/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pages of processes by NUMA node, from numa_maps of each. To make that file the kernel walks
 * the page tables of the process under its mmap_lock, for which the process may have to wait. So it
 * is read when it is asked for, and again only so rarely that reading takes 1 % of the time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/node.h"

struct process {
	pid_t pid;
	int error; /* 0; -ESRCH: it has ended; else why there are no figures */
	uint64_t bytes[NODE_NUMBERS];
	uint64_t huge_bytes; /* of them in pages of hugetlbfs */
};

struct pages {
	const char *root; /* borrowed */
	unsigned n;
	struct process *all; /* owned */
	uint64_t read_ns;    /* when the last reading began, CLOCK_MONOTONIC; 0: there was none */
	uint64_t took_ns;    /* how long it took */
};

/* 0, -ENOMEM. */
int pages_init(struct pages *ret, const char *root, const uint64_t pids[], unsigned n);
void pages_done(struct pages *pages);

/* Reads those of all processes that live, if it may be done at @now_ns. Says whether it did; if
 * not, it only notes which processes have ended. */
bool pages_look(struct pages *pages, uint64_t now_ns);

/* Has every process an error? There are some. */
bool pages_are_gone(const struct pages *pages);

enum { PROCESS_WHY_MAX = 200 };

/* A sentence: why a process has no figures. */
void process_why(const struct process *process, char ret_text[PROCESS_WHY_MAX]);
