/* SPDX-License-Identifier: BSD-3-Clause */
/* Passages of this process's threads through regions. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/region/regions.h"

struct passage {
	struct region *region, *outer; /* .outer: that the thread was in before; NULL: none */
	uint64_t entered_ns;
	uint64_t begun_ns; /* when the thread was inside, and the region open */
	int error;         /* of passage_begin() */
	bool is_timed;     /* see cost.h */
};

/*
 * A thread enters @region from inside of @outer (NULL: from outside of all). 0; negative errno with
 * a sentence: the region could not be opened, so the passage will have no figures. It has begun all
 * the same.
 */
int passage_begin(
	struct regions *regions, struct region *region, struct region *outer, struct passage *ret);

/*
 * The thread left at @now_ns. 0; negative errno with a sentence: the passage has ended without
 * figures.
 */
int passage_end(struct regions *regions, const struct passage *passage, uint64_t now_ns);

/* A thread has ended inside @passage. */
void passage_abandon(struct regions *regions, const struct passage *passage);

/* The process did @amount of @unit. -ENOSPC, with a sentence. */
int passage_work(struct regions *regions, struct region *region, double amount, const char *unit);

/* This process ends: closes the region for all of its threads. False: none is inside. */
bool passage_give_up(struct regions *regions, struct region *region);

/* A thread that has never begun a region before does so now, or ends. */
void passage_count_thread(struct regions *regions, int change);

/* A passage that is nested too deeply to be followed. */
void passage_count_excess(struct regions *regions, struct region *region);
