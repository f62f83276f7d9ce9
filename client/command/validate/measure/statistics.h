/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Sorts the @n >= 1 @values and returns their median. *@ret_error (NULL: not wanted) is its
 * standard error. Outliers move neither.
 */
double statistics_median(double values[], unsigned n, double *ret_error);
