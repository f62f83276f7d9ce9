/* SPDX-License-Identifier: BSD-3-Clause */
/* A measurement in progress, and what others moved meanwhile. */
#pragma once

#include "client/command/validate/measure/measured.h"

enum { REPETITIONS_MAX = 200 };

struct course {
	struct probe *probe;
	const struct measure_rules *rules;
	struct workers *workers;
	unsigned n_passes; /* of a repetition */
	uint64_t idle_ns;
	struct readout before, begin, end;  /* where idling begins, passes begin, passes end */
	double *numbers;                    /* the memory of the pointers below */
	double *idle, *busy;                /* bytes of each series */
	double *idle_window, *busy_window;  /* ns of each socket */
	double *pauses, *pauses_window;     /* all idle windows together */
	double *kernels_window;             /* all passes together */
	double *net;                        /* [repetition][series] */
	double background[REPETITIONS_MAX]; /* bytes of others */
	double best_ns;
	uint64_t deadline_ns;
	uint64_t moved; /* pages that Linux had moved by the last repetition */
};

/* The metric that shows most; its socket is where the kernel's bytes are. */
uint32_t course_largest(const struct course *course, const struct measured *measured);

void course_sleep(uint64_t ns);

/* At the end: what was taken off for others, and whether they still move as much a while after the
 * last pass. Errors of probe_take(); -EINTR. */
int course_look_at_rest(struct course *course, struct measured *ret);
