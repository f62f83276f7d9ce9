/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of regions: a table for people, JSON for programs. */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "client/format.h"
#include "client/internal.h"
#include "client/launch.h"
#include "client/region.h"

static void put_json(struct json_object **object)
{
	json_object_put(*object);
}

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

/* Which process it is about, on the line that has begun. */
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

static struct json_object *region_json(const struct regions *regions, const struct region *region)
{
	struct json_object *object = json_object_new_object();
	struct json_object *sockets = json_object_new_array();
	struct format_socket socket;

	for (uint32_t i = 0; region->sums && i < regions->meter.n_sockets; i++) {
		show_socket(regions, region, i, &socket);
		json_object_array_add(sockets, format_json(&socket));
	}
	json_object_object_add(object, "name", json_object_new_string(region->name));
	json_object_object_add(object, "count", json_object_new_uint64(region->count));
	json_object_object_add(object, "failed", json_object_new_uint64(region->failed));
	json_object_object_add(object, "open", json_object_new_uint64(n_open(region)));
	json_object_object_add(object, "time_ns", json_object_new_uint64(region->time_ns));
	json_object_object_add(
		object, "window_ns", json_object_new_uint64(mean_window_ns(regions, region)));
	json_object_object_add(object, "sockets", sockets);
	return object;
}

static void add_process(struct json_object *document)
{
	int64_t rank = launch_rank();
	char host[LAUNCH_HOST_MAX];

	launch_host(host);
	json_object_object_add(document, "pid", json_object_new_int(getpid()));
	json_object_object_add(document, "host", json_object_new_string(host));
	json_object_object_add(document, "rank", rank >= 0 ? json_object_new_int64(rank) : NULL);
}

static void add_note(struct json_object *document, const struct regions *regions)
{
	const char *note = "Everything that each socket did is counted, not only this program.";

	if (format_is_standin(regions->meter.platform))
		note = "STAND-IN: nothing here is memory traffic. Everything that each socket did "
		       "is counted, not only this program.";
	json_object_object_add(document, "note", json_object_new_string(note));
	if (regions->failure.error)
		json_object_object_add(
			document, "failure", json_object_new_string(regions->failure.text));
}

static struct json_object *document_json(const struct regions *regions)
{
	struct json_object *document = json_object_new_object();
	struct json_object *list = json_object_new_array();

	format_json_origin(document, *regions->meter.platform ? regions->meter.platform : NULL,
		regions->meter.generation);
	add_process(document);
	add_note(document, regions);
	for (const struct region *r = regions->first; r; r = r->next)
		json_object_array_add(list, region_json(regions, r));
	json_object_object_add(document, "regions", list);
	return document;
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
	_cleanup_(put_json) struct json_object *document = NULL;
	_cleanup_free_ char *expanded = NULL;
	int r = launch_expand(path, &expanded);

	if (r < 0)
		return error_say(r,
			"%s is no name for a report: %m. Only %%p, %%h, %%r and %%%% "
			"have a meaning.",
			path);
	document = document_json(regions);
	r = write_file(expanded, json_object_to_json_string_ext(document,
					 JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	if (r < 0)
		return error_say(r, "Cannot write the report to %s: %m.", expanded);
	return 0;
}
