/* SPDX-License-Identifier: BSD-3-Clause */
/* A reading of all sockets for the begin or the end of a job, within a time that suits a batch
 * system. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/jobstore/run.h"
#include "client/libuncore/uncore.h"
#include "client/reader/reader.h"

struct job_reading {
	bool is_reached;      /* uncored answers */
	struct reader reader; /* not connected: .why says why there is no reading */
	struct uncore_daemon daemon;
	struct readout readout;
	char why[RUN_WHY_MAX];
};

struct job_reading_wish {
	const char *socket_path; /* as for uncore_open() */
	uint64_t deadline_ns;    /* CLOCK_MONOTONIC */
	enum reader_use use;
};

/* Gives a reading, or else the sentence .why. */
void job_reading_take(const struct job_reading_wish *wish, struct job_reading *ret);
void job_reading_done(struct job_reading *reading);

/* When the counts of a sample were taken: the middle of its sweep. */
static inline uint64_t job_reading_ns(const struct uncore_sample *sample)
{
	return sample->begin_ns + (sample->end_ns - sample->begin_ns) / 2;
}
