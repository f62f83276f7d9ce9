/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The format/ files of a PMU, and how they encode events.
 *
 * An event is a list of terms "field=value". format/ says which bits of which config word belong to
 * a field ("config:8-15,32-57"). The bits of the value are placed there, lowest first, as perf(1)
 * does it (kernel 6.12, tools/perf/util/pmu.c, pmu_format_value()).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/fault.h"
#include "daemon/machine/pmu.h"
#include "daemon/plan/scale.h"

enum { FORMAT_WORDS = 3, FORMAT_NAME_MAX = 64 };

/* The config words of perf_event_attr. All zero: nothing is encoded yet. */
struct encoding {
	uint64_t word[FORMAT_WORDS];
	uint64_t taken[FORMAT_WORDS]; /* bits owned by the fields given so far */
};

/*
 * Encodes terms like "event=0x04,umask=0x0f,edge". -ENOENT: the PMU has no such field; -ERANGE: a
 * value does not fit; -EINVAL: a field is given twice, or something is not understood; -EFBIG;
 * errors of text_file_read(). The fault says which.
 */
int format_encode(
	const struct pmu *pmu, const char *text, struct encoding *encoding, struct fault *fault);

/* As format_encode(), for @n whole config words. -E2BIG: perf has fewer; -ERANGE: a word sets bits
 * that no field of format/ covers. */
int format_encode_words(const struct pmu *pmu, const uint64_t words[], unsigned n,
	struct encoding *encoding, struct fault *fault);

/* Is @name a plain file name: without a path, and not hidden? */
bool format_is_file_name(const char *name);

/* --- the other ways to name an event --- */

/*
 * Encodes the alias @name, the file events/NAME of @pmu, and the fields that may follow it:
 * "rd_bytes_loc,root_port=0x3ff". Its .scale and .unit, where present, must agree with @worth of a
 * count (NULL: not checked, as for a clock). -ENOENT: there is no such alias; -EDOM: the kernel
 * states another scale, or a scale that is not a number; errors of format_encode(),
 * text_file_read().
 */
int alias_encode(const struct pmu *pmu, const char *name, const struct worth *worth,
	struct encoding *encoding, struct fault *fault);

/*
 * Encodes the event that libpfm4 calls @text. -ENOSYS: there is no libpfm4; -ENOENT: it does not
 * know the event; -E2BIG: more words than perf has; errors of format_encode_words().
 */
int pfm_encode(
	const struct pmu *pmu, const char *text, struct encoding *encoding, struct fault *fault);
