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

struct finding {
	enum outcome outcome; /* OUTCOME_RIGHT: a remark */
	bool is_factor;       /* the right values are the shown ones times a number */
	char text[FINDING_BYTES];
};

struct findings {
	enum outcome outcome;
	unsigned n;
	struct finding finding[FINDINGS_MAX];
};

/* Adds a sentence; those past FINDINGS_MAX are left out. */
_printf_(3, 4) void findings_add(
	struct findings *findings, enum outcome outcome, const char *format, ...);

/* Adds a defect: the counters show too little or too much by a factor. */
_printf_(2, 3) void findings_add_factor(struct findings *findings, const char *format, ...);

/* Are factors the only defects? */
bool findings_are_factors(const struct findings *findings);

/* "right", "defect", ... */
const char *outcome_word(enum outcome outcome);
