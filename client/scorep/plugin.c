/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/scorep/plugin.h"

#include <errno.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/launcher/launch.h"
#include "common/unit.h"

static const struct reader_wish wish = { .use = READER_DIFFERENCE };

/*
 * 2^64 divided by the golden ratio, because no other number's multiples keep as far away from 0
 * modulo 2^64: those up to the 986th are more than 2^53 away. Score-P adds up the differences of
 * all visits of a region.
 */
static const uint64_t MARK = 0x9e3779b97f4a7c15U;

/* --- the process --- */

/* Counts belong to the sockets, so the parent goes on recording what a child moves. */
static void stop_in_child(void)
{
	plugin.is_recording = false;
}

int32_t plugin_initialize(void)
{
	int r = reader_take(&plugin.reader, &wish, &plugin.before);

	if (r < 0) {
		fprintf(stderr, "%s: nothing is recorded. %s\n", plugin.name, reader_failure(r));
		return -1;
	}
	plugin.is_recording = launch_local_rank() <= 0;
	pthread_atfork(NULL, NULL, stop_in_child);
	return 0;
}

void plugin_finalize(void)
{
	char words[UNCORE_TEXT_MAX];

	if (plugin.is_recording && plugin.n_failures > 0)
		fprintf(stderr, "%s: %llu failures in %llu readings: %s\n", plugin.name,
			(unsigned long long)plugin.n_failures,
			(unsigned long long)plugin.n_readings, plugin.failure);
	if (plugin.is_recording && uncore_quality_words(plugin.quality, words, sizeof words) > 0)
		fprintf(stderr, "%s: some counts are %s.\n", plugin.name, words);
	reader_close(&plugin.reader);
	readout_done(&plugin.before);
	readout_done(&plugin.now);
	plugin = (struct plugin){ .name = plugin.name }; /* it may be initialised again */
}

/* --- readings --- */

static void keep_failure(const char *sentence)
{
	if (plugin.n_failures++ == 0)
		snprintf(plugin.failure, sizeof plugin.failure, "%s", sentence);
}

/* What makes a count unknown: it went back, or a part is missing that was there at first. A clock
 * that stood still makes a zero unknown. */
static bool plugin_is_known(const struct uncore_delta_value *value, uint32_t quality_at_first)
{
	const uint32_t missing = (UNCORE_PARTIAL | UNCORE_RESET) & ~quality_at_first;

	return !(value->quality & missing) && (value->count || !(value->quality & UNCORE_FROZEN));
}

/* Another uncored, after a restart, may have other metrics. Returns why nothing was added, or NULL.
 */
static const char *plugin_add_moved(struct chosen *chosen)
{
	const uint32_t socket = chosen->socket;
	struct uncore_delta delta = UNCORE_DELTA_INIT;
	const struct uncore_delta_value *value = delta.values;
	int r = uncore_find_metric(plugin.reader.handle, chosen->name);

	if (r >= 0)
		value += r;
	if (r >= 0 && socket < plugin.before.n_sockets && socket < plugin.now.n_sockets)
		r = uncore_delta(
			&plugin.before.samples[socket], &plugin.now.samples[socket], &delta);
	if (r < 0)
		return reader_failure(r);
	if (value->quality & UNCORE_ABSENT)
		return uncore_why(plugin.reader.handle, value->why);
	if (!plugin_is_known(value, chosen->quality))
		return "A counter stood still, went back, or could not be read.";
	chosen->total += value->count;
	plugin.quality |= value->quality;
	return NULL;
}

static void plugin_add_all(void)
{
	const struct readout before = plugin.before;

	for (int32_t id = 0; id < plugin.n_chosen; id++) {
		const char *failure = plugin_add_moved(&plugin.chosen[id]);

		if (!failure)
			continue;
		keep_failure(failure);
		plugin.chosen[id].lost = plugin.n_failures;
	}
	plugin.before = plugin.now;
	plugin.now = before;
}

bool plugin_take(void)
{
	int r = reader_take(&plugin.reader, &wish, &plugin.now);

	if (r == -ESTALE) { /* and so is each difference to the reading before */
		reader_close(&plugin.reader);
		r = reader_take(&plugin.reader, &wish, &plugin.now);
	}
	plugin.n_readings++;
	plugin.is_failing = r < 0;
	if (r < 0)
		keep_failure(reader_failure(r));
	else
		plugin_add_all();
	return r == 0;
}

uint64_t plugin_value(int32_t id)
{
	const struct chosen *chosen = &plugin.chosen[id];

	return chosen->total + MARK * (plugin.is_failing ? plugin.n_failures : chosen->lost);
}

/* --- metrics --- */

int32_t plugin_add(char *title)
{
	for (int32_t id = 0; id < plugin.n_chosen; id++)
		if (strcmp(title, plugin.chosen[id].title) == 0)
			return id;
	return -1;
}

/* Texts for Score-P to keep. */
static bool plugin_describe(const struct chosen *chosen, struct scorep_metric *ret)
{
	const struct uncore *handle = plugin.reader.handle;
	uint32_t metric = (uint32_t)uncore_find_metric(handle, chosen->name);
	const char *unit = uncore_metric_unit(handle, metric);
	char words[UNCORE_TEXT_MAX];

	uncore_quality_words(chosen->quality, words, sizeof words);
	*ret = (struct scorep_metric){ .name = strdup(chosen->title),
		.mode = SCOREP_COUNTED_FROM_START,
		.type = SCOREP_UINT64,
		.base = SCOREP_DECIMAL,
		.unit = strdup(unit_is_bytes(unit) ? "B" : unit) };
	if (asprintf(&ret->description, "all that socket %u did; platform %s%s%s", chosen->socket,
		    plugin.reader.machine.platform, *words ? ", " : "", words) < 0)
		ret->description = NULL;
	return ret->name && ret->description && ret->unit;
}

static struct chosen chosen_of(uint32_t metric, uint32_t socket, uint32_t quality)
{
	const char *name = uncore_metric_name(plugin.reader.handle, metric);
	struct chosen chosen = { .socket = socket, .quality = quality };

	snprintf(chosen.name, sizeof chosen.name, "%s", name);
	snprintf(chosen.title, sizeof chosen.title, "%s:socket%u", name, socket);
	return chosen;
}

static bool plugin_is_meant(const char *token, const struct chosen *chosen)
{
	return fnmatch(token, chosen->name, 0) == 0 || fnmatch(token, chosen->title, 0) == 0;
}

/* Lists a metric, unless it is listed already. */
static bool plugin_choose(const struct chosen *chosen, struct scorep_metric *ret)
{
	if (plugin.n_chosen == SCOREP_METRICS_MAX || plugin_add((char *)chosen->title) >= 0 ||
		!plugin_describe(chosen, ret))
		return false;
	plugin.chosen[plugin.n_chosen++] = *chosen;
	return true;
}

struct scorep_metric *plugin_list(char *token)
{
	struct scorep_metric *list = calloc(SCOREP_METRICS_MAX + 1, sizeof *list);
	const struct uncore_machine *machine = &plugin.reader.machine;
	const char *why_none = "`uncore list` shows the metrics.";
	size_t n = 0;

	for (uint32_t i = 0; list && i < machine->n_metrics * machine->n_sockets; i++) {
		const uint32_t metric = i / machine->n_sockets, socket = i % machine->n_sockets;
		const struct uncore_value value = plugin.before.samples[socket].values[metric];
		const struct chosen chosen = chosen_of(metric, socket, value.quality);

		if (!plugin_is_meant(token, &chosen))
			continue;
		why_none = NULL;
		if (value.quality & UNCORE_ABSENT)
			why_none = uncore_why(plugin.reader.handle, value.why);
		else
			n += plugin_choose(&chosen, &list[n]);
	}
	if (n == 0 && why_none)
		fprintf(stderr, "%s: %s is not recorded. %s\n", plugin.name, token, why_none);
	return list;
}
