/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a counter counts, from kernels of which it is known what they read and write: by least
 * squares, as so many of the reads and so many of the writes. A good counter of reads shows (1, 0).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/command/validate/measure/measure.h"

struct fit {
	double reads, writes; /* what it shows of each, as a share */
	double error;         /* standard error of both */
	double misfit;        /* the largest difference at a kernel, as a share of what it moves */
};

/* Fits @series to the @n kernels; false: they cannot tell reads from writes. */
bool fit_series(
	const struct measured *const kernels[], unsigned n, uint32_t series, struct fit *ret);
