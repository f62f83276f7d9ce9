/* SPDX-License-Identifier: BSD-3-Clause */
/* What a node's kernels say about the counters, in sentences. */
#pragma once

#include <stdbool.h>

#include "common/macro.h"

enum { FINDINGS_MAX = 24, FINDING_BYTES = 400 };

/* From good to bad: a node is as bad as its worst finding. */
enum outcome {
	OUTCOME_RIGHT,
	OUTCOME_ABSENT,  /* nothing can be measured there */
	OUTCOME_UNCLEAR, /* too noisy to say */
	OUTCOME_DEFECT,
};

struct findings {
	enum outcome outcome;
	unsigned n;
	char text[FINDINGS_MAX][FINDING_BYTES];
};

/* Adds a sentence; those past FINDINGS_MAX are left out. */
_printf_(3, 4) void findings_add(
	struct findings *findings, enum outcome outcome, const char *format, ...);

/* Does the sentence say no more than what is worth knowing? */
bool findings_is_remark(const char *text);

/* "right", "defect", ... */
const char *outcome_word(enum outcome outcome);
