/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the counters of a node's socket get wrong, from what the kernels showed; never from names.
 * Kernels k move r(k) and w(k) bytes. A counter that is a sum of both shows a r(k) + b w(k) of
 * them; the numbers of all counters of all sockets tell the known defects apart.
 */
#pragma once

#include "client/validate/findings.h"
#include "client/validate/fit.h"

enum { VERDICT_KERNELS_MAX = 8 };

struct evidence {
	const struct meter *meter;
	const struct place *place;
	uint32_t socket;                        /* uncored's number of it */
	const char *read_metric, *write_metric; /* where the node's bytes should appear */
	/* Those whose traffic no CPU may change: load, update, and then others. */
	const struct measured *const *kernels;
	unsigned n_kernels; /* at most VERDICT_KERNELS_MAX */
};

/* Adds to @ret, which begins as zero. */
void verdict(const struct evidence *evidence, struct findings *ret);

/* What @metric of the node's socket shows. */
struct fit verdict_fit(const struct evidence *evidence, const char *metric);
