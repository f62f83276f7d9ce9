/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/info/info.h"

#include <inttypes.h>
#include <stdio.h>

#include "client/command/frame/output.h"
#include "client/command/frame/parts.h"
#include "client/reader/reader.h"
#include "client/report/format.h"
#include "common/macro.h"
#include "common/text.h"

static bool are_several(const struct parts *parts)
{
	for (uint32_t i = 1; i < parts->n; i++)
		if (parts->part[i].socket == parts->part[i - 1].socket)
			return true;
	return false;
}

/* What the channels of part @number have counted since the counts began, if they were read. */
static void append_counts(char line[QUALITY_METRIC_MAX], const struct reader *reader,
	const struct readout *found, const struct parts *parts, uint32_t number)
{
	const char *before = "; so far ";

	for (uint32_t m = 0; found->channels && m < reader->machine.n_metrics; m++) {
		const char *name = uncore_metric_name(reader->handle, m);
		char count[FORMAT_COUNT_MAX], words[FORMAT_QUALITY_MAX];
		uint32_t quality = parts->part[number].metrics >> m & 1 ? 0 : UNCORE_ABSENT;
		uint64_t sum = 0;

		for (uint32_t k = 0; k < parts->n_channels; k++)
			if (parts->channel[k].part == number && parts->channel[k].metric == m) {
				sum += found->channels[k].count;
				quality |= found->channels[k].quality;
			}
		if (quality & UNCORE_ABSENT || format_is_check(name))
			continue;
		format_count(sum, count);
		uncore_quality_words(quality, words, sizeof words);
		text_append(line, QUALITY_METRIC_MAX, "%s%s %s %s%s%s", before, name, count,
			uncore_metric_unit(reader->handle, m), *words ? " " : "", words);
		before = ", ";
	}
}

static void nodes_print_node(const struct reader *reader, const struct readout *found,
	const struct parts *parts, uint32_t number)
{
	const struct part *part = &parts->part[number];
	char line[QUALITY_METRIC_MAX];

	snprintf(line, sizeof line, "%s, socket %" PRIu32 ":", part->name, part->socket);
	for (uint32_t k = 0; k < parts->n_channels; k++)
		if (parts->channel[k].part == number && part->metrics &&
			parts->channel[k].metric == parts->channel[0].metric)
			text_append(line, sizeof line, " %s", parts->channel[k].name);
	if (!part->metrics)
		text_append(line, sizeof line,
			" absent, since it is not known which channels it has: `uncore validate "
			"--keep` finds out");
	append_counts(line, reader, found, parts, number);
	output_labelled(number ? "" : "NUMA nodes", line);
}

void nodes_print(const struct json_value *info, const struct reader *reader)
{
	static const struct reader_wish wish = {
		.use = READER_GAUGE, .channels = true, .patience_ns = 1000000000
	};
	_cleanup_(parts_done) struct parts parts = { .part = NULL };
	_cleanup_(readout_done) struct readout found = {};

	if (parts_of_nodes_in(reader->handle, info, &parts) < 0 || !are_several(&parts))
		return;
	if (reader_read(reader, &wish, &found) < 0)
		readout_done(&found);
	for (uint32_t i = 0; i < parts.n; i++)
		nodes_print_node(reader, &found, &parts, i);
}
