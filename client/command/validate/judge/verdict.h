/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds what the counters of a node's socket get wrong, from what the kernels showed and never from
 * names. Kernel k moves r(k) and w(k) bytes. A counter that is a sum of both shows a r(k) + b w(k).
 * The numbers of all counters of all sockets tell the known defects apart.
 */
#pragma once

#include "client/command/validate/judge/evidence.h"
#include "client/command/validate/judge/findings.h"

/* Says in @ret which metrics of the node's memory are absent, and why; false: none is. */
bool verdict_is_absent(const struct evidence *evidence, struct findings *ret);

/* Adds the findings to @ret, which begins as zero. */
void verdict(const struct evidence *evidence, struct findings *ret);

/* What @metric of the node's socket shows. */
struct fit verdict_fit(const struct evidence *evidence, const char *metric);
