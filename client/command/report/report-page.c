/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/frame/validated.h"
#include "client/command/page/still.h"
#include "client/command/report/report-options.h"
#include "client/ratio/pairs.h"
#include "client/records/spread.h"
#include "client/report/derived.h"
#include "client/report/quantity.h"
#include "common/jsonwriter.h"
#include "common/macro.h"

static void write_peak(struct jsonwriter *json, const char *platform)
{
	_cleanup_(validated_done) struct validated validated;
	const bool is_kept = validated_read(&validated, platform);
	const double peak = is_kept ? validated_peak_of_all(&validated) : 0;

	if (peak > 0)
		jsonwriter_real(json, "peak_bytes_per_ns", peak);
	else
		jsonwriter_text(json, "peak_absent",
			is_kept ? "the report of `uncore validate` here has no bandwidth of each "
				  "socket."
				: "nobody has kept a report of `uncore validate` here for this "
				  "platform.");
}

static void write_pair(struct jsonwriter *json, const struct compare_pair *pair)
{
	char verdict[COMPARE_VERDICT_MAX];

	jsonwriter_object(json, NULL);
	jsonwriter_text_or_null(json, "region", pair->region);
	jsonwriter_text(json, "metric", pair->name);
	if (pair->why) {
		jsonwriter_text(json, "why", pair->why);
	} else {
		compare_verdict(pair, COMPARE_WITHIN, verdict);
		jsonwriter_real(json, "ratio", pair->ratio);
		jsonwriter_real(json, "low", pair->low);
		jsonwriter_real(json, "high", pair->high);
		jsonwriter_text(json, "verdict", verdict);
	}
	jsonwriter_close(json);
}

static void show_strip(struct still *still, const char *name, const struct ranks *ranks,
	const struct ranks_spread *spread)
{
	struct still_strip strip = { .lower = (double)spread->quartiles[1],
		.median = (double)spread->quartiles[RANKS_MEDIAN],
		.upper = (double)spread->quartiles[3],
		.most = (double)spread->quartiles[RANKS_QUARTILES - 1] };

	for (uint32_t i = 0; i < spread->n; i++)
		strip.marks[(int)((double)ranks->all[i].time_ns / strip.most * STILL_WIDTH)] = true;
	if (!still->n)
		still_begin(still);
	still_strip(still, name, &strip);
}

/* How long the ranks were in each region, if several were. */
static void still_ranks(FILE *out, const struct record *record, const struct join *join)
{
	struct still still = { .out = out,
		.caption = "Seconds of each rank in a region, each picture from 0 to its most",
		.columns = { "Region", "Ranks, quartiles and median", "Median", "Most" },
		.write = quantity_time };

	for (uint32_t i = 0; i < record->n_regions; i++) {
		const struct record_region region = join ? join_row(join, i) : record->regions[i];
		_cleanup_(ranks_done) struct ranks own = { .n = 0 };
		struct ranks *ranks = join ? &join->regions[i].ranks : &own;
		struct ranks_spread spread;

		if (join ? join->n_ranks > JOIN_RANKS_MOST
			 : ranks_add(&own, record, &region, 0) < 0)
			continue;
		if (ranks_spread(ranks, &spread) && spread.n > 1)
			show_strip(&still, region.name, ranks, &spread);
	}
	if (still.n)
		still_end(&still);
}

struct host {
	const char *name;
	double figures[2]; /* all memory, and writes; NAN: absent */
};

/* The worst first: those without figures, then those that moved the most. */
static int page_compare_hosts(const void *a, const void *b)
{
	const double x = ((const struct host *)a)->figures[0];
	const double y = ((const struct host *)b)->figures[0];

	return isnan(x) || isnan(y) ? isnan(y) - isnan(x) : (x < y) - (x > y);
}

/* Of a job of a batch system. */
static void still_hosts(FILE *out, const struct join *join)
{
	const uint32_t n = join->regions[0].n_parts;
	_cleanup_free_ struct host *hosts = calloc(n + 1U, sizeof *hosts);
	struct still still = { .out = out,
		.caption = "Bytes of each host, those that moved the most first",
		.columns = { "Host", "All, and written", "Read and written", "Written" },
		.write = quantity_bytes };

	for (uint32_t i = 0; hosts && i < n; i++) {
		hosts[i] = (struct host){
			join->records[join->regions[0].parts[i].record].host,
			{ spread_sum(join, 0, i, ""), spread_sum(join, 0, i, ".write") },
		};
		still.most = fmax(still.most, hosts[i].figures[0]);
	}
	if (hosts)
		qsort(hosts, n, sizeof *hosts, page_compare_hosts);
	still_begin(&still);
	for (uint32_t i = 0; hosts && i < n; i++)
		still_row(&still, hosts[i].name, hosts[i].figures, NULL);
	still_end(&still);
}

void report_still(FILE *out, const struct record *record, const struct join *join)
{
	struct still still = { .out = out,
		.caption = "Bytes of each region; what moved while several were open is shared out",
		.columns = { "Region", "Total, and written", "Read and written", "Written" },
		.write = quantity_bytes };

	if (join && join_is_job(join)) {
		still_hosts(out, join);
		return;
	}
	for (uint32_t i = 0; i < record->n_regions; i++)
		still.most = fmax(still.most, derived_volume(record, &record->regions[i]).value);
	still_begin(&still);
	for (uint32_t i = 0; i < record->n_regions; i++) {
		const struct record_region region = join ? join_row(join, i) : record->regions[i];

		still_row(&still, region.name,
			(double[2]){ derived_volume(record, &region).value,
				derived_writes(record, &region).value },
			NULL);
	}
	still_end(&still);
	still_ranks(out, record, join);
}

/* The page's own data are B. */
static void write_against(
	struct jsonwriter *json, const struct report_options *options, struct page *page)
{
	_cleanup_(json_document_done) struct json_document document = { .text = NULL };
	_cleanup_(pairs_done) struct compare all = { .n = 0 };
	const struct json_value *data;

	fflush(page->part[PAGE_DATA]);
	data = json_document_take(&document, strdup(page->text[PAGE_DATA]));
	if (data)
		pairs_take(options->old, data, &all);
	compare_judge(all.pairs, all.n);
	jsonwriter_text(json, "old", options->against);
	jsonwriter_array(json, "against");
	for (size_t i = 0; i < all.n; i++)
		write_pair(json, &all.pairs[i]);
	jsonwriter_close(json);
}

void report_more_json(const struct report_options *options, struct page *page, const char *platform)
{
	_cleanup_(jsonwriter_done) struct jsonwriter json;

	jsonwriter_init(&json, false);
	jsonwriter_object(&json, NULL);
	write_peak(&json, platform);
	if (options->old)
		write_against(&json, options, page);
	jsonwriter_close(&json);
	jsonwriter_print(&json, page->part[PAGE_MORE]);
}
