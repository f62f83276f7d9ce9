/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is a quantity of one program larger than that of another? Welch's test of two means on the
 * logarithms of the runs' counts, whose difference is the logarithm of a ratio. Counts of programs
 * scatter by a share of themselves, so logarithms have a scatter that does not depend on the size.
 */
#pragma once

#include <stddef.h>

struct welch {
	double difference, error, freedom; /* of the mean logarithms, B - A */
	double p; /* the chance of such a difference between equals, either way */
};

/* @n_a, @n_b >= 2; all values > 0. Without any scatter p is 0 or 1. */
struct welch welch_test(const double a[], size_t n_a, const double b[], size_t n_b);

/* How far the difference may be off: t * error, for the confidence 1 - @alpha. */
double welch_margin(const struct welch *welch, double alpha);
