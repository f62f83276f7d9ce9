/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of regions: a table for people, JSON for programs. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "client/format.h"
#include "client/internal.h"
#include "client/jsonwriter.h"
#include "client/region/launch.h"
#include "client/region/regions.h"
#include "client/region/report.h"

enum { NOTE_MAX = 256 };

/* @region has sums. */
static void show_socket(const struct regions *regions, const struct region *region, uint32_t socket,
	struct format_socket *ret)
{
	const struct region_sum *sum = &region->sums[socket];

	*ret = (struct format_socket){
		.socket = socket,
		.n_values = regions->meter.n_metrics,
		.window_ns = sum->window_ns,
		.skew_ns = sum->skew_ns,
	};
	for (uint32_t i = 0; i < regions->meter.n_metrics; i++)
		ret->values[i] = (struct format_value){
			.name = regions->meter.names[i],
			.unit = regions->meter.units[i],
			.why = sum->values[i].why ? sum->values[i].why : "for an unknown reason",
			.count = sum->values[i].count,
			.rate = format_rate(sum->values[i].count, sum->window_ns),
			.quality = sum->values[i].quality,
		};
}

/* The mean of the sockets' windows, which differ by the length of a sweep at most. */
static uint64_t mean_window_ns(const struct regions *regions, const struct region *region)
{
	uint64_t sum_ns = 0;

	for (uint32_t i = 0; region->sums && i < regions->meter.n_sockets; i++)
		sum_ns += region->sums[i].window_ns;
	return regions->meter.n_sockets ? sum_ns / regions->meter.n_sockets : 0;
}

/* Passages that have not ended. */
static uint64_t n_open(const struct region *region)
{
	return region->begun - region->count;
}

/* --- table --- */

static void write_region(FILE *out, const struct regions *regions, const struct region *region)
{
	struct format_socket socket;

	fprintf(out, " region %s: %" PRIu64 " passages", region->name, region->count);
	if (region->count)
		fprintf(out, ", %.6f s each",
			(double)region->time_ns / 1e9 / (double)region->count);
	if (region->failed)
		fprintf(out, " (%" PRIu64 " failed and not counted below)", region->failed);
	fprintf(out, "\n");
	if (n_open(region))
		fprintf(out, "   still open or never ended: %" PRIu64 "; not counted below\n",
			n_open(region));
	for (uint32_t i = 0; region->sums && i < regions->meter.n_sockets; i++) {
		show_socket(regions, region, i, &socket);
		format_rows(out, &socket);
	}
	if (!region->sums)
		fprintf(out, "   no figures\n\n");
}

/* Names the process, on the line that has begun. */
static void write_process(void)
{
	char host[LAUNCH_HOST_MAX];
	int64_t rank = launch_rank();

	launch_host(host);
	fprintf(stderr, "Regions of %s (pid %d, host %s", program_invocation_short_name,
		(int)getpid(), host);
	if (rank >= 0)
		fprintf(stderr, ", rank %" PRId64, rank);
	fprintf(stderr, ")");
}

/* A program that never reached uncored gets one line, however many regions it has. */
static void write_failure(const struct regions *regions)
{
	fprintf(stderr, "uncore: ");
	write_process();
	fprintf(stderr, " have no figures: %s\n", regions->failure.text);
}

static void write_regions(const struct regions *regions)
{
	fprintf(stderr, "\n ");
	write_process();
	fprintf(stderr, *regions->meter.platform ? ", platform %s:\n\n" : "%s:\n\n",
		regions->meter.platform);
	for (const struct region *r = regions->first; r; r = r->next)
		write_region(stderr, regions, r);
	if (regions->failure.error)
		fprintf(stderr, " Last failure: %s\n", regions->failure.text);
	format_caveats(stderr, regions->meter.platform, "this program");
}

int report_write_table(const struct regions *regions)
{
	if (!*regions->meter.platform && regions->failure.error)
		write_failure(regions);
	else
		write_regions(regions);
	return ferror(stderr) ? error_say(-EIO, "Cannot write the report to stderr.") : 0;
}

/* --- JSON --- */

static void region_json(
	struct jsonwriter *json, const struct regions *regions, const struct region *region)
{
	struct format_socket socket;

	jsonwriter_object(json, NULL);
	jsonwriter_text(json, "name", region->name);
	jsonwriter_number(json, "count", region->count);
	jsonwriter_number(json, "failed", region->failed);
	jsonwriter_number(json, "open", n_open(region));
	jsonwriter_number(json, "time_ns", region->time_ns);
	jsonwriter_number(json, "window_ns", mean_window_ns(regions, region));
	jsonwriter_array(json, "sockets");
	for (uint32_t i = 0; region->sums && i < regions->meter.n_sockets; i++) {
		show_socket(regions, region, i, &socket);
		format_json(json, &socket);
	}
	jsonwriter_close(json);
	jsonwriter_close(json);
}

static void process_json(struct jsonwriter *json)
{
	int64_t rank = launch_rank();
	char host[LAUNCH_HOST_MAX];

	launch_host(host);
	jsonwriter_number(json, "pid", (uint64_t)getpid());
	jsonwriter_text(json, "host", host);
	if (rank >= 0)
		jsonwriter_number(json, "rank", (uint64_t)rank);
	else
		jsonwriter_text(json, "rank", NULL);
}

static void note_json(struct jsonwriter *json, const struct regions *regions)
{
	const char *warning = format_warning(regions->meter.platform);
	char note[NOTE_MAX];

	snprintf(note, sizeof note,
		"%s%sEverything that each socket did is counted, not only this program.",
		warning ? warning : "", warning ? " " : "");
	jsonwriter_text(json, "note", note);
	if (regions->failure.error)
		jsonwriter_text(json, "failure", regions->failure.text);
}

/* *@ret_text is the caller's. */
static int document_json(const struct regions *regions, char **ret_text)
{
	_cleanup_(jsonwriter_done) struct jsonwriter json;
	const char *platform = regions->meter.platform;

	jsonwriter_init(&json, true);
	jsonwriter_object(&json, NULL);
	format_json_origin(&json, *platform ? platform : NULL, regions->meter.generation);
	process_json(&json);
	note_json(&json, regions);
	jsonwriter_array(&json, "regions");
	for (const struct region *r = regions->first; r; r = r->next)
		region_json(&json, regions, r);
	jsonwriter_close(&json);
	jsonwriter_close(&json);
	return jsonwriter_finish(&json, ret_text);
}

static int write_file(const char *path, const char *text)
{
	FILE *out = fopen(path, "we");
	int r = 0;

	if (!out)
		return -errno;
	if (fprintf(out, "%s\n", text) < 0)
		r = -errno;
	if (fclose(out) == EOF && r == 0)
		r = -errno;
	return r;
}

int report_write_json(const struct regions *regions, const char *path)
{
	_cleanup_free_ char *expanded = NULL, *text = NULL;
	int r = launch_expand(path, &expanded);

	if (r < 0)
		return error_say(r,
			"%s is no name for a report: %m. Only %%p, %%h, %%r and %%%% "
			"have a meaning.",
			path);
	r = document_json(regions, &text);
	if (r == 0)
		r = write_file(expanded, text);
	if (r < 0)
		return error_say(r, "Cannot write the report to %s: %m.", expanded);
	return 0;
}
