/* SPDX-License-Identifier: BSD-3-Clause */
/* Passages of this process's threads through regions. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/region/regions.h"

struct passage {
	struct region *region, *outer; /* the thread was in .outer before; NULL: none */
	uint64_t begun_ns;             /* the thread was inside */
	uint64_t n_anew;     /* the table's at the begin; less than now if uncored counted anew */
	int error;           /* of its begin */
	bool is_timed;       /* see pace.h */
	bool is_counted;     /* see misses.h */
	unsigned n_given_up; /* .region's at the begin; less than now if this was given up */
};

/*
 * A thread goes out of @passage, whose .region is NULL if it was in none, and into @next (NULL:
 * into none), at @now_ns; both lie inside .outer. *@passage is then the new passage. 0; negative
 * errno with a sentence: the one that ended has no figures, or the one that begins will have none.
 * It has begun even then.
 */
int passage_cross(
	struct regions *regions, struct passage *passage, struct region *next, uint64_t now_ns);

/* This process changes a state, for which the caller holds a lock: all but .now_ns of @turn is
 * given. 0; negative errno with a sentence: the change took no reading. */
int passage_turn(struct regions *regions, struct state_turn *turn);

/* A thread has ended inside @passage. */
void passage_abandon(struct regions *regions, const struct passage *passage);

/* The process did @amount of @unit. -ENOSPC, with a sentence. */
int passage_work(struct regions *regions, struct region *region, double amount, const char *unit);

/* This process exits: ends the passages of all its threads. False: no thread is inside. */
bool passage_give_up(struct regions *regions, struct region *region);

/* Before a report: reads what was open since the last reading. May wait. */
void passage_read_rest(struct regions *regions);

/* Counts a thread that begins its first region, or that ends. */
void passage_count_thread(struct regions *regions, int change);

/* Counts a passage that is nested too deeply to be followed. */
void passage_count_excess(struct regions *regions, struct region *region);
