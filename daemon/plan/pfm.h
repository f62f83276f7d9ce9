/* SPDX-License-Identifier: BSD-3-Clause */
/* Events that are named as in libpfm4. */
#pragma once

#include "daemon/plan/format.h"

/*
 * Encodes the event that libpfm4 calls @text. -ENOSYS: there is no libpfm4; -ENOENT: it does not
 * know the event; -E2BIG: more words than perf has; errors of format_encode_words().
 */
int pfm_encode(
	const struct pmu *pmu, const char *text, struct encoding *encoding, struct fault *fault);
