/* SPDX-License-Identifier: BSD-3-Clause */
/* An ordinary client that measures its calls to the library, in a process of its own. */
#pragma once

#include <sys/types.h>

struct victim_figures {
	double open_p50_us, open_p99_us, read_p50_us, read_p99_us, read_worst_us;
	unsigned n_opens, n_reads;
	unsigned n_failed;
	char failure[256]; /* the library's sentence about the first failure */
};

struct victim {
	pid_t pid;
	int ends[2];
	struct victim_figures *figures; /* of the last measurement; shared */
};

void victim_start(struct victim *victim, unsigned uid);

/* Measures some hundred connections and twice as many reads, and more for @seconds at least. Calls
 * @meanwhile now and then. */
void victim_measure(
	struct victim *victim, unsigned seconds, void (*meanwhile)(void *argument), void *argument);

/* A tenth of that, without figures, so that the first of a measurement are like the others. */
void victim_warm(struct victim *victim);

void victim_stop(struct victim *victim);
