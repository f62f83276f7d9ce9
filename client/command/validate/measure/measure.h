/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measurement of one kernel: readings around its passes and around an idle window before them,
 * repeated until the result is known well enough.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>

#include "client/command/validate/measure/probe.h"
#include "client/command/validate/measure/workers.h"

struct measure_rules {
	double error; /* standard error at which repetition ends, as a share of what is predicted */
	double time_s;                     /* for one kernel at most */
	double quantum;                    /* bytes to which the site rounds values down */
	const volatile sig_atomic_t *stop; /* not 0: the user wants to stop */
};

struct measured {
	const struct kernel *kernel;
	unsigned n_threads;
	struct kernel_traffic predicted; /* bytes of one repetition, like all figures here */
	unsigned n;                      /* repetitions that count */
	unsigned n_dropped;              /* Linux moved pages during them */
	double error;                    /* largest standard error of a metric, as a share */
	double background;               /* bytes of others, as a share */
	double at_rest;                  /* the same a while after the last pass, where others are
					    noticed; else as .background */
	double best_ns;                  /* the shortest time of one repetition's passes */
	double *bytes;                   /* medians, of each series of the probe */
	double *errors;                  /* their standard errors; part of the same memory */
	double *others;                  /* what was taken off for others; part of it, too */
	bool is_known;                   /* .error is within the rules, or within twice that where
					    others are noticed */
};

/*
 * Measures @job into @ret, which measured_done() frees. 0; errors of workers_start() and
 * probe_take(); -EINTR: *@rules->stop became true.
 */
int measure(struct probe *probe, const struct workers_job *job, const struct measure_rules *rules,
	struct measured *ret);
void measured_done(struct measured *measured);

/* Do others move so much that the result is less certain? */
bool measured_notices_others(const struct measured *measured);

/* All predicted bytes, without those that a CPU may evade. */
double measured_total(const struct measured *measured);

/* The base of errors relative to what is @shown. A counter that shows nothing has an error, too,
 * from the little that others move. */
double measured_whole(const struct measured *measured, double shown);

/*
 * Sorts the @n >= 1 @values and returns their median. *@ret_error (NULL: not wanted) is its
 * standard error. Outliers move neither.
 */
double statistics_median(double values[], unsigned n, double *ret_error);
