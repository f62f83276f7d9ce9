/* SPDX-License-Identifier: BSD-3-Clause */
/* An ordinary client that measures its calls to the library, in a process of its own. */
#pragma once

#include <stdbool.h>
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

/* How long to measure: so many seconds, and so many opens and twice as many reads. */
struct victim_order {
	unsigned n_opens, seconds;
	/* No time decides: calls have minutes, and all of them are made. */
	bool facts;
};

typedef void victim_meanwhile(void *argument);

/* Calls @meanwhile now and then, and, for facts, while each of the victim's connections is open. */
void victim_measure(struct victim *victim, const struct victim_order *order,
	victim_meanwhile *meanwhile, void *argument);

/* uncore_open(), which for facts has minutes. */
struct uncore;
int victim_open(bool facts, struct uncore **ret);

void victim_stop(struct victim *victim);
