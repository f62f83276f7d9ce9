/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Readings at even distances while a job runs, for its course. There are at most SAMPLES_MAX: when
 * there is no room, every second one is dropped, and the distance doubles. What fails shows in the
 * course alone: the job does not notice.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/command/frame/total.h"
#include "client/reader/reader.h"

enum { SAMPLES_LEAST = 20, SAMPLES_MAX = 1024 };

struct samples {
	struct reader reader;
	struct readout first, now, spare; /* .now is the last one that succeeded */
	struct total total;               /* from the first to the last reading */
	struct total before, after;       /* a moment without the job; .runs 0: not known */
	bool has_moments;
	uint64_t step_ns, next_ns; /* UINT64_MAX: there are no more */
	unsigned n_failures;
	const char *tier;   /* that the course is of: "dram"; NULL: none is counted */
	uint32_t metrics;   /* ... bits of its metrics */
	size_t n;           /* readings */
	uint64_t *times_ns; /* owned; of each */
	uint64_t *counts;   /* owned; bytes of the tier, for each reading and socket */
	char failure[256];  /* a sentence; "": nothing failed */
};

/* Connects, and takes the first reading, with a moment before it. */
void samples_begin(struct samples *samples);

/* Takes a reading if one is due at .next_ns. */
void samples_take(struct samples *samples);

/* Takes the last reading, with a moment after it. */
void samples_end(struct samples *samples);

/* The rate of @socket between reading @i and the next one, in bytes per ns. */
double samples_rate(const struct samples *samples, size_t i, uint32_t socket);

/* Did the job last long enough for more than its totals? */
bool samples_have_course(const struct samples *samples);

void samples_done(struct samples *samples);
