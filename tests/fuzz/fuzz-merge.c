/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text as CSV of another tool for `uncore report --merge`: every figure is a number or none,
 * and what is found by name is what was read. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/report/merge.h"
#include "common/text.h"
#include "tests/fuzz/target.h"

static void check(const struct merge_run *run)
{
	if (run->n_columns > MERGE_COLUMNS_MAX)
		abort();
	for (uint32_t i = 0; i < run->regions.n; i++) {
		const double *row = merge_run_find(run, run->regions.all[i]);

		if (row != run->cells + (size_t)i * run->n_columns ||
			!text_is_plain(run->regions.all[i]))
			abort();
		for (unsigned k = 0; k < run->n_columns; k++)
			if (!text_is_plain(run->columns[k]))
				abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct merge_run run = { .n_ranks = 0 };
	char why[JSON_READER_WHY_MAX] = "";
	char *text = malloc(size + 1);
	int r;

	if (!text)
		exit(0);
	memcpy(text, data, size);
	text[size] = '\0';
	r = merge_parse_csv(text, &run, why);
	if (r == 0)
		check(&run);
	else if (r != -ENOMEM && !text_is_plain(why))
		abort();
	merge_run_done(&run);
	free(text);
	return 0;
}
