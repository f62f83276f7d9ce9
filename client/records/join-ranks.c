/* SPDX-License-Identifier: BSD-3-Clause */
/* How long the ranks of all nodes were in each region. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "client/records/join.h"
#include "client/report/columns.h"
#include "client/report/quantity.h"
#include "common/jsonwriter.h"
#include "common/macro.h"
#include "common/text.h"

enum { LINE_RANKS = 5 };

/* --- pages --- */

static void bins_json(struct jsonwriter *json, struct ranks *ranks)
{
	struct ranks_spread spread;
	uint32_t n[JOIN_BINS + 1] = { 0 };

	jsonwriter_array(json, NULL);
	ranks_spread(ranks, &spread);
	for (uint32_t i = 0; i < spread.n; i++) {
		const double most = (double)spread.quartiles[RANKS_QUARTILES - 1];

		n[(int)round((double)ranks->all[i].time_ns / most * JOIN_BINS)]++;
	}
	for (uint32_t i = 0; i <= JOIN_BINS; i++)
		if (n[i]) {
			jsonwriter_array(json, NULL);
			jsonwriter_number(json, NULL, i);
			jsonwriter_number(json, NULL, n[i]);
			jsonwriter_close(json);
		}
	jsonwriter_close(json);
}

void join_json_bins(struct jsonwriter *json, const struct join *join)
{
	jsonwriter_array(json, "rank_bins");
	for (uint32_t i = 0; i < join->total.n_regions && join->n_ranks <= JOIN_RANKS_MOST; i++)
		bins_json(json, &join->regions[i].ranks);
	jsonwriter_close(json);
}

/* --- tables --- */

static void join_ranks_write_one(FILE *out, const struct join *join, const struct ranks_one *one)
{
	char host[JOIN_HOST_MOST + 1], time[QUANTITY_MAX];

	join_short_host(&join->records[one->record], host, sizeof host);
	quantity_time((double)one->time_ns, time);
	if (one->rank < 0)
		fprintf(out, "pid %" PRId32 " on %s %s", one->pid, host, time);
	else
		fprintf(out, "rank %" PRId64 " on %s %s", one->rank, host, time);
}

static void join_ranks_write_region(
	FILE *out, const struct join *join, uint32_t region, const struct ranks_spread *spread)
{
	char text[COLUMN_CELL_MAX];
	uint32_t i;

	join_write_name(join, region, text);
	fprintf(out, "%s: ", text);
	for (i = 0; i < spread->outliers.n && i < LINE_RANKS; i++) {
		fputs(i ? ", " : "", out);
		join_ranks_write_one(out, join, spread->outliers.first[i]);
	}
	if (i < spread->outliers.n)
		fprintf(out, " and %" PRIu32 " more", spread->outliers.n - i);
	quantity_time((double)spread->quartiles[RANKS_MEDIAN], text);
	fprintf(out, "; the median of %" PRIu32 " ranks %s", spread->n, text);
}

static void join_ranks_print_region(
	FILE *out, const struct join *join, uint32_t region, const struct ranks_spread *spread)
{
	_cleanup_free_ char *text = NULL;
	size_t size_bytes;
	FILE *line = open_memstream(&text, &size_bytes);

	if (!line)
		return;
	join_ranks_write_region(line, join, region, spread);
	if (fclose(line) == EOF)
		return;
	fputc(' ', out);
	text_fold_to(out, text, 1, 3, columns_line(&join->total, out));
}

void join_print_ranks(FILE *out, const struct join *join)
{
	bool has_title = false;

	for (uint32_t i = 0; i < join->total.n_regions && join->n_ranks <= JOIN_RANKS_MOST; i++) {
		struct ranks_spread spread;

		if (!ranks_spread(&join->regions[i].ranks, &spread) || !spread.outliers.n)
			continue;
		if (!has_title)
			fputs("\n Ranks whose time in a region stands out:\n", out);
		has_title = true;
		join_ranks_print_region(out, join, i, &spread);
	}
}
