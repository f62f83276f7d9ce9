/* SPDX-License-Identifier: BSD-3-Clause */
/* The rates of each tier of memory of sockets and their parts, the last minute of these, and what a
 * full bar of them is. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/report/format.h"

enum { COURSE_TIERS = FORMAT_VALUES_MAX - UNCORE_METRICS_MAX, COURSE_SECONDS = 60 };

struct tier {
	const char *name;                                 /* "dram" */
	const struct format_value *reads, *writes, *both; /* NULL: no such metric */
};

/* Finds tier @number. False: @socket has no metric of it. */
bool tier_find(const struct format_socket *socket, unsigned number, struct tier *ret);

/* In bytes per ns; NAN: there is none. */
double tier_rate(const struct format_value *value);

struct course_tier {
	/* The highest rate within each second; the last one is now; NAN: no figures. */
	float minute[COURSE_SECONDS];
	double highest; /* so far */
	double full;    /* of a bar; 0: nothing has moved yet */
	bool is_peak; /* a full bar is what `uncore validate` saw, else the highest of all alike */
};

struct course {
	struct course_tier tiers[COURSE_TIERS];
	double peak; /* of DRAM, in bytes per ns; 0: not known */
};

struct courses {
	uint32_t n_sockets, n; /* those of sockets come first */
	uint64_t second;       /* of the last interval's end */
	struct course *all;    /* owned */
};

/* Makes room. What is known of sockets stays if there are as many. 0, -ENOMEM. */
int courses_resize(struct courses *courses, uint32_t n_sockets, uint32_t n_parts);
void courses_done(struct courses *courses);

/* Adds the rates of an interval between two times of one clock, which only grows. */
void courses_add(struct courses *courses, const struct format_socket shown[], uint64_t begin_ns,
	uint64_t end_ns);
