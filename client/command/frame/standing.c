/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/standing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/report/format.h"
#include "common/macro.h"
#include "common/unit.h"

enum { ALONE_OF = 4, SHARE = 4, QUANTA = 4 };

static bool standing_is_of_tier(const struct standing_box *a, const struct standing_box *b)
{
	const size_t n = strcspn(a->metric_name, ".");

	return strncmp(a->metric_name, b->metric_name, n) == 0 && b->metric_name[n] == '.';
}

/* Has the box counted anything of this tier? */
static bool has_counted(
	const struct standing_box boxes[], uint32_t n, const struct standing_box *box)
{
	for (uint32_t i = 0; i < n; i++)
		if (boxes[i].ever && boxes[i].socket == box->socket &&
			standing_is_of_tier(box, &boxes[i]) &&
			strcmp(boxes[i].name, box->name) == 0)
			return true;
	return false;
}

/* The boxes of one metric and socket. */
struct group {
	const struct standing_box *first;
	uint32_t n, n_never, n_still, n_much;
};

static bool is_in(const struct group *group, const struct standing_box *box)
{
	return !box->is_absent && box->socket == group->first->socket &&
	       box->metric == group->first->metric;
}

static struct group group_of(const struct standing_box boxes[], uint32_t n,
	const struct standing_box *first, uint64_t least_bytes)
{
	struct group group = { .first = first };

	for (uint32_t i = 0; i < n; i++) {
		if (!is_in(&group, &boxes[i]))
			continue;
		group.n++;
		group.n_much += boxes[i].moved >= least_bytes;
		if (!has_counted(boxes, n, &boxes[i]))
			group.n_never++;
		else
			group.n_still += !boxes[i].moved;
	}
	return group;
}

/* Does a box that stands at 0 say anything, beside such sisters? */
static bool is_telling(const struct group *group)
{
	return group->n_much && group->n_much + group->n_still + group->n_never == group->n;
}

/* The boxes of @group that stand at 0. */
static uint32_t judge_group(const struct standing_box boxes[], uint32_t n,
	const struct group *group, struct standing ret[])
{
	const bool is_alone = group->n_never == 1 && group->n >= ALONE_OF;
	const uint32_t n_told = group->n_still + is_alone;
	const bool are_few = n_told * SHARE <= n_told + group->n_much;
	uint32_t n_found = 0;

	for (uint32_t i = 0; is_telling(group) && i < n; i++) {
		struct standing *one = &ret[n_found];
		bool counted;

		if (!is_in(group, &boxes[i]) || boxes[i].moved)
			continue;
		counted = has_counted(boxes, n, &boxes[i]);
		if (!are_few && (counted || is_alone))
			continue;
		*one = (struct standing){ STANDING_STILL, boxes[i].socket, boxes[i].metric,
			group->n_much, "" };
		if (!counted)
			one->kind = is_alone ? STANDING_NEVER : STANDING_EMPTY;
		snprintf(one->name, sizeof one->name, "%s", boxes[i].name);
		n_found++;
	}
	return n_found;
}

static bool is_first(const struct standing_box boxes[], uint32_t number)
{
	const struct group group = { .first = &boxes[number] };

	for (uint32_t i = 0; i < number; i++)
		if (is_in(&group, &boxes[i]))
			return false;
	return !boxes[number].is_absent;
}

uint32_t standing_judge(
	const struct standing_box boxes[], uint32_t n, uint64_t least_bytes, struct standing ret[])
{
	uint32_t n_found = 0;

	for (uint32_t i = 0; i < n; i++)
		if (is_first(boxes, i)) {
			const struct group group = group_of(boxes, n, &boxes[i], least_bytes);

			n_found += judge_group(boxes, n, &group, &ret[n_found]);
		}
	return n_found;
}

/* --- channels of a handle --- */

static struct standing_box box_of(const struct uncore *handle, uint32_t number,
	const struct uncore_channel_value before[], const struct uncore_channel_value after[])
{
	struct uncore_channel channel = UNCORE_CHANNEL_INIT;
	const struct uncore_channel_value *value = &after[number];

	uncore_describe_channel(handle, number, &channel);
	return (struct standing_box){
		.socket = channel.socket,
		.metric = channel.metric,
		.metric_name = uncore_metric_name(handle, channel.metric),
		.name = channel.name,
		.is_absent = value->quality & UNCORE_ABSENT ||
			     !unit_is_bytes(uncore_metric_unit(handle, channel.metric)) ||
			     format_is_check(uncore_metric_name(handle, channel.metric)),
		.moved = value->count - (before ? before[number].count : 0),
		.ever = value->count,
	};
}

/* A quantum of the site lets counts stand still. */
static uint64_t standing_least_of(const struct uncore *handle)
{
	struct uncore_daemon daemon = UNCORE_DAEMON_INIT;

	uncore_describe_daemon(handle, &daemon);
	return QUANTA * daemon.quantum > STANDING_LEAST_BYTES ? QUANTA * daemon.quantum
							      : STANDING_LEAST_BYTES;
}

int standing_find(const struct uncore *handle, const struct uncore_channel_value before[],
	const struct uncore_channel_value after[], struct standing **ret)
{
	struct uncore_machine machine = UNCORE_MACHINE_INIT;
	_cleanup_free_ struct standing_box *boxes = NULL;

	uncore_describe(handle, &machine);
	boxes = calloc(machine.n_channels + 1U, sizeof *boxes);
	*ret = calloc(machine.n_channels + 1U, sizeof **ret);
	if (!boxes || !*ret)
		return -ENOMEM;
	for (uint32_t i = 0; i < machine.n_channels; i++)
		boxes[i] = box_of(handle, i, before, after);
	return (int)standing_judge(boxes, machine.n_channels, standing_least_of(handle), *ret);
}
