/* SPDX-License-Identifier: BSD-3-Clause */
/* What the user predicts that a unit of work moves, to stand beside what it moved. */
#pragma once

#include "client/report/record.h"

enum { PREDICTIONS_MAX = 64 };

struct predictions {
	unsigned n;
	struct prediction {
		const char *work; /* the caller's: UNIT, or REGION:UNIT */
		double bytes;
		bool fits; /* a region has such work */
	} all[PREDICTIONS_MAX];
};

/* @text is UNIT=BYTES, or REGION:UNIT=BYTES, and is cut at the last =. False: it is neither, or
 * there are too many. */
bool predictions_add(struct predictions *predictions, char *text);

/* Notes in the regions of @record what is predicted for their work. A prediction for the region
 * goes before one for all. */
void predictions_apply(struct predictions *predictions, struct record *record);

/* Says which ones fit no region, and returns how many. */
unsigned predictions_complain(const struct predictions *predictions);
