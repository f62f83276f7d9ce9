/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Structures that the caller lays out begin with their size, so that they may grow at their end: a
 * program may have been built with an older uncore.h than the library, or with a newer one.
 *
 * A smaller size comes from an older program: only .size bytes exist. A larger size comes from a
 * newer program: members that the library does not know become 0, so 0 in a member of a later
 * release must mean "not known". The kernel treats struct perf_event_attr in the same way: a
 * program goes on working as long as it needs no new member. A size is refused if it is below the
 * first release's, or if no struct can have it: it was never set.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "client/libuncore/uncore.h"

enum { SIZED_BYTES_MAX = 4096 };

struct sized {
	const char *name;     /* of struct uncore_sample: "sample" */
	const char *init;     /* "UNCORE_SAMPLE_INIT" */
	uint32_t least_bytes; /* size in the first release */
	uint32_t bytes;       /* size in this release */
	uint32_t alignment;
};

extern const struct sized sized_sample, sized_delta, sized_machine, sized_socket, sized_channel,
	sized_daemon;

/* 0; -EINVAL with a sentence: @theirs is NULL, or its .size cannot be that of @kind. */
int sized_check(const struct sized *kind, const void *theirs);

/* Copies @ours, except for .size, to the caller's checked struct, up to its .size. */
void sized_fill(const struct sized *kind, void *theirs, const void *ours);

/* Zeroes the members of the caller's checked struct that the library does not know. */
void sized_clear_rest(const struct sized *kind, void *theirs);
