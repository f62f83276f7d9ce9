/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the benchmarks on the stand-in machine share: a program has rows, and a row has figures,
 * which it prints beside their goals and writes as JSON. All ratios are of one run.
 */
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/harness/daemon-process.h"
#include "tests/harness/program.h"

struct bench_row {
	const char *name, *what;
	void (*measure)(void);
};

/* main() of `PROGRAM [--json FILE] [ROW..]`: measures these rows, or all. Needs root and two CPUs.
 */
int bench_main(int argc, char *argv[], const struct bench_row rows[], size_t n);

struct figure {
	const char *key; /* of the JSON */
	const char *what;
	const char *unit;
	double value;
	double most; /* the goal; NAN: there is none */
};

/* Adds to the row, or to what figures_begin() has begun. */
void figure_add(const struct figure *figure);

/* Adds median and 99th percentile of @us, which it sorts, as KEY_median_us and KEY_p99_us. */
void figure_add_spread(const char *key, const char *what, double us[], unsigned n);

/* The figures from here on are an object @name of the JSON, below a heading. */
void figures_begin(const char *name, const char *what);
