/* SPDX-License-Identifier: BSD-3-Clause */
/* Passages through a region: the first opens it, the last closes it, and its figures are added. */
#pragma once

#include <stdint.h>

#include "client/region/regions.h"

/*
 * A thread enters @region; the first one takes a reading. 0; negative errno with a sentence: the
 * reading failed, so the passage will have no figures. It has begun all the same.
 */
int passage_begin(struct regions *regions, struct region *region);

/*
 * A thread leaves @region after @time_ns; the last one takes a reading. 0; negative errno with a
 * sentence: the passage has ended without figures.
 */
int passage_end(struct regions *regions, struct region *region, uint64_t time_ns);

/* A thread has ended inside @region. */
void passage_abandon(struct regions *regions, struct region *region);

/* A passage that is nested too deeply to be followed. */
void passage_count_excess(struct regions *regions, struct region *region);
