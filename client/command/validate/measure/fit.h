/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a counter counts, by least squares over kernels with known reads and writes: a share of the
 * reads and a share of the writes. A good counter of reads shows (1, 0).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/command/validate/measure/measure.h"

struct fit {
	double reads, writes; /* the share of each that it shows */
	double error;         /* standard error of both */
	double misfit;        /* the largest difference at a kernel, as a share of what it moves */
};

/* Fits @series to the @n kernels. False: these kernels cannot tell reads from writes. */
bool fit_series(
	const struct measured *const kernels[], unsigned n, uint32_t series, struct fit *ret);
