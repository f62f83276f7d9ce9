/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of a process alone: fills a record, and writes it as a table or as JSON. */
#include "client/region/report.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "client/internal.h"
#include "client/record/cpus.h"
#include "client/record/json.h"
#include "client/record/print.h"
#include "client/region/launch.h"
#include "client/region/regions.h"

static int64_t loaded_s;

__attribute__((constructor)) static void note_time(void)
{
	loaded_s = time(NULL);
}

/* --- the record --- */

static void fill_process(struct record *record)
{
	cpu_set_t cpus;

	record->members[0] = (struct record_member){
		.rank = launch_rank(),
		.pid = (int32_t)getpid(),
	};
	if (sched_getaffinity(0, sizeof cpus, &cpus) == 0)
		cpus_list(&cpus, sizeof cpus, record->members[0].cpus);
	launch_host(record->host);
	snprintf(record->command, sizeof record->command, "%s", program_invocation_short_name);
	snprintf(record->version, sizeof record->version, "%s", UNCORE_VERSION);
	record->begun_s = loaded_s;
	record->ended_s = time(NULL);
	record->run = 1;
}

static void fill_meter(const struct regions *regions, struct record *record)
{
	const struct meter *meter = &regions->meter;

	snprintf(record->platform, sizeof record->platform, "%s", meter->platform);
	memcpy(record->generation, meter->generation, sizeof record->generation);
	record->n_metrics = meter->n_metrics;
	memcpy(record->metrics, meter->names, sizeof record->metrics);
	memcpy(record->units, meter->units, sizeof record->units);
	if (regions->failure.error)
		snprintf(record->failure, sizeof record->failure, "%s", regions->failure.text);
}

/* By how much the site's rounding may change one difference; 0: not at all. */
static uint64_t quantum_of(const struct meter *meter)
{
	struct uncore_daemon daemon = UNCORE_DAEMON_INIT;

	if (!meter->handle || uncore_describe_daemon(meter->handle, &daemon) < 0)
		return 0;
	return daemon.quantum > 1 ? daemon.quantum : 0;
}

static int fill_socket(
	const struct regions *regions, const struct region_sum *sum, struct record_socket *socket)
{
	socket->window_ns = sum->window_ns;
	socket->skew_ns = sum->skew_ns;
	for (uint32_t i = 0; i < regions->meter.n_metrics; i++) {
		socket->values[i].count = sum->values[i].count;
		socket->values[i].quality = sum->values[i].quality;
		if (!(sum->values[i].quality & UNCORE_ABSENT) || !sum->values[i].why)
			continue;
		socket->values[i].why = strdup(sum->values[i].why);
		if (!socket->values[i].why)
			return -ENOMEM;
	}
	return 0;
}

/* Overlapping passages share a difference, so there are at most as many of these as of those. */
static int fill_region(
	const struct regions *regions, const struct region *region, struct record_region *ret)
{
	uint64_t quantum = quantum_of(&regions->meter);

	memcpy(ret->name, region->name, sizeof ret->name);
	ret->n_passages = region->count;
	ret->n_failed = region->failed;
	ret->n_open = region->begun - region->count;
	ret->n_ranks = 1;
	ret->time_ns = region->time_ns;
	if (!region->sums)
		return 0;
	ret->sockets = calloc(regions->meter.n_sockets, sizeof *ret->sockets);
	if (!ret->sockets)
		return -ENOMEM;
	ret->n_sockets = regions->meter.n_sockets;
	for (uint32_t i = 0; i < ret->n_sockets; i++) {
		int r = fill_socket(regions, &region->sums[i], &ret->sockets[i]);

		ret->sockets[i].socket = i;
		ret->sockets[i].quantum_bytes = quantum * (region->count - region->failed);
		if (r < 0)
			return r;
	}
	return 0;
}

static int fill_regions(const struct regions *regions, struct record *record)
{
	uint32_t n = 0;

	for (const struct region *region = regions->first; region; region = region->next)
		n++;
	record->regions = calloc(n ? n : 1, sizeof *record->regions);
	record->members = calloc(1, sizeof *record->members);
	if (!record->regions || !record->members)
		return -ENOMEM;
	record->n_members = 1;
	for (const struct region *region = regions->first; region; region = region->next) {
		int r = fill_region(regions, region, &record->regions[record->n_regions++]);

		if (r < 0)
			return r;
	}
	return 0;
}

/* @ret is empty; the caller frees it also after a failure. */
static int fill(const struct regions *regions, struct record *ret)
{
	int r;

	fill_meter(regions, ret);
	r = fill_regions(regions, ret);
	if (r == 0)
		fill_process(ret);
	return r;
}

/* --- where it goes --- */

/* By one call, if the stream takes all: the tables of several processes do not mix then. */
static int write_at_once(int fd, const char *text, size_t size_bytes)
{
	while (size_bytes) {
		ssize_t n = write(fd, text, size_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		size_bytes -= (size_t)n;
	}
	return 0;
}

static int print_to_text(const struct record *record, char **ret_text, size_t *ret_size_bytes)
{
	FILE *out = open_memstream(ret_text, ret_size_bytes);

	if (!out)
		return -ENOMEM;
	record_print(out, record);
	return fclose(out) == EOF ? -ENOMEM : 0;
}

int report_write_table(const struct regions *regions)
{
	_cleanup_(record_done) struct record record = { .host = "" };
	_cleanup_free_ char *text = NULL;
	size_t size_bytes = 0;
	int r = fill(regions, &record);

	if (r == 0)
		r = print_to_text(&record, &text, &size_bytes);
	if (r == 0 && fflush(stderr) == EOF)
		r = -errno;
	if (r == 0)
		r = write_at_once(fileno(stderr), text, size_bytes);
	return r < 0 ? error_say(r, "Cannot write the report to stderr: %m.") : 0;
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
	_cleanup_(record_done) struct record record = { .host = "" };
	_cleanup_free_ char *expanded = NULL, *text = NULL;
	int r = launch_expand(path, &expanded);

	if (r < 0)
		return error_say(r,
			"%s is no name for a report: %m. Only %%p, %%h, %%r and %%%% "
			"have a meaning.",
			path);
	r = fill(regions, &record);
	if (r == 0)
		r = record_json(&record, &text);
	if (r == 0)
		r = write_file(expanded, text);
	if (r < 0)
		return error_say(r, "Cannot write the report to %s: %m.", expanded);
	return 0;
}
