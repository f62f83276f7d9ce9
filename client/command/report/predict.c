/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/report/predict.h"

#include <stdio.h>
#include <string.h>

#include "common/number.h"

static const uint64_t BYTES_MOST = UINT64_C(1000000000000000);

bool predictions_add(struct predictions *predictions, char *text)
{
	char *end = strrchr(text, '=');
	struct prediction *one = &predictions->all[predictions->n];

	if (predictions->n == PREDICTIONS_MAX || !end || end == text ||
		!number_parse_decimal(end + 1, BYTES_MOST, &one->bytes) || !(one->bytes > 0))
		return false;
	*end = '\0';
	one->work = text;
	predictions->n++;
	return true;
}

static void predict_apply(
	struct prediction *one, const struct record_region *region, struct record_work *work)
{
	char whole[RECORD_NAME_BYTES + RECORD_UNIT_BYTES];
	bool is_own;

	snprintf(whole, sizeof whole, "%s:%s", region->name, work->unit);
	is_own = strcmp(one->work, whole) == 0;
	if (!is_own && strcmp(one->work, work->unit) != 0)
		return;
	one->fits = true;
	if (is_own || !(work->predicted > 0))
		work->predicted = one->bytes;
}

void predictions_apply(struct predictions *predictions, struct record *record)
{
	for (uint32_t i = 0; i < record->n_regions; i++) {
		struct record_region *region = &record->regions[i];

		for (size_t w = 0; w < RECORD_UNITS_MAX && *region->work[w].unit; w++)
			for (unsigned k = 0; k < predictions->n; k++)
				predict_apply(&predictions->all[k], region, &region->work[w]);
	}
}

unsigned predictions_complain(const struct predictions *predictions)
{
	unsigned n = 0;

	for (unsigned i = 0; i < predictions->n; i++)
		if (!predictions->all[i].fits && ++n)
			fprintf(stderr,
				"uncore report: no region has the work that --predict \"%s\" is "
				"about; a program names work by uncore_region_work().\n",
				predictions->all[i].work);
	return n;
}
