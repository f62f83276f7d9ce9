/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counter boxes that stand at 0 while their sisters count, those of the same metric and socket. A
 * sum that has one lacks the bytes of its memory channel.
 *
 * A box without memory counts nothing either, and that is right. It has counted nothing of its tier
 * (dram, hbm ..) since uncored began, neither reads nor writes, and mostly others are like it:
 * machines are filled by halves, thirds and pairs. So several such boxes are empty, but a single
 * one of four or more is told.
 *
 * While the memory of one NUMA node is at work, the boxes of others may stand still. So at most a
 * quarter of the boxes may, and all others must have counted much.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/libuncore/uncore.h"

enum standing_kind {
	STANDING_STILL, /* it has counted before, or something else of its tier */
	STANDING_NEVER, /* alone of its socket, it has counted nothing yet */
	STANDING_EMPTY, /* as others of its socket: no memory is there, as far as one can tell */
};

struct standing {
	enum standing_kind kind;
	uint32_t socket, metric, n_sisters; /* sisters: those that counted */
	char name[UNCORE_NAME_MAX];         /* of the channel */
};

/* A channel, and what it counted: in the time in question, and since uncored began. */
struct standing_box {
	uint32_t socket, metric;
	const char *metric_name, *name;
	bool is_absent;
	uint64_t moved, ever;
};

enum { STANDING_LEAST_BYTES = 1 << 20 }; /* that a sister has counted */

/* Writes those that stand at 0 to @ret, which has room for @n. Returns their number. @least_bytes:
 * that every sister must have counted. */
uint32_t standing_judge(
	const struct standing_box boxes[], uint32_t n, uint64_t least_bytes, struct standing ret[]);

/* The same of all channels of @handle between two readings of them. @before NULL: since uncored
 * began. *@ret is the caller's, for free(3). Returns the number; -ENOMEM. */
int standing_find(const struct uncore *handle, const struct uncore_channel_value before[],
	const struct uncore_channel_value after[], struct standing **ret);
