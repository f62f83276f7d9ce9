/* SPDX-License-Identifier: BSD-3-Clause */
/* A reading of all sockets, taken once, when it is first needed. */
#pragma once

#include <fenv.h>

#include "client/region/alone.h"
#include "client/region/meter.h"
#include "client/region/state.h"
#include "common/clock.h"

struct reading {
	struct meter *meter; /* borrowed */
	unsigned edge;       /* the region that the thread is in next; ALONE_NOBODY: others */
	struct alone_look look;
	struct readout readout;
	const struct state_turn *turn; /* of a state, which took it; NULL */
	uint64_t n_unread;             /* before it; see state.h */
	fenv_t floating; /* the program's, while .holds: what a reading needs is not to be seen in
			    its flags, and may not trap */
	bool holds;
	bool is_taken;
	bool is_again;  /* by the same call as the reading before */
	int error;      /* of taking it */
	uint64_t at_ns; /* CLOCK_MONOTONIC: it was taken then, by uncored; 0: it is taken now */
};

/* When the counts of a sample were taken: the middle of its sweep. */
static inline uint64_t reading_middle_ns(const struct uncore_sample *sample)
{
	return sample->begin_ns + (sample->end_ns - sample->begin_ns) / 2;
}

static inline uint64_t reading_now_ns(const struct reading *reading)
{
	return reading && reading->at_ns ? reading->at_ns : clock_now_ns();
}

/* 0; an error of meter_read(), with its sentence if this call took the reading. */
static inline int reading_take(struct reading *reading)
{
	if (!reading->is_taken) {
		reading->holds = feholdexcept(&reading->floating) == 0;
		reading->look = alone_look(reading->meter->table, reading->edge);
		reading->n_unread = state_count_unread(reading->meter->table);
		reading->error = meter_read(reading->meter, &reading->readout);
	}
	reading->is_taken = true;
	return reading->error;
}

static inline void reading_done(struct reading *reading)
{
	readout_done(&reading->readout);
	if (reading->holds)
		fesetenv(&reading->floating);
	reading->holds = false;
}

/* Takes another reading instead. */
static inline int reading_renew(struct reading *reading)
{
	reading_done(reading);
	*reading = (struct reading){
		.meter = reading->meter, .edge = reading->edge, .is_again = true
	};
	return reading_take(reading);
}
