/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The median of @n >= 1 @values, which are sorted then, and in *@ret_error (NULL: not wanted) its
 * standard error. Outliers move neither.
 */
double statistics_median(double values[], unsigned n, double *ret_error);
