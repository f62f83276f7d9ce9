/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passages that no thread's stack holds, so they have no outer region, and nothing is nested in
 * them.
 *
 * Spans may end in another thread than they began in, and overlap with others of the same thread. A
 * handle is the number of a place in the list and how often that place was used. A forked child has
 * a list of its own.
 */
#include <errno.h>
#include <stdlib.h>

#include "client/region/passage.h"
#include "client/region/regions.h"
#include "common/clock.h"
#include "common/macro.h"

enum { SPANS_MOST = 65536 };

struct span {
	struct passage passage;
	uint32_t n_uses; /* odd: open */
	uint32_t skip;   /* the next free place is the one behind this, and so many further */
};

static uint64_t handle_of(const struct spans *spans, uint32_t place)
{
	return (uint64_t)spans->list[place].n_uses << 32 | (place + 1);
}

/* The place is not free any more, and not open yet. Memory that was never used takes no room. 0;
 * -ENOMEM; -ENOSPC. */
static int span_reserve(struct spans *spans, uint32_t *ret_place)
{
	int r;

	pthread_mutex_lock(&spans->lock);
	if (!spans->list)
		spans->list = calloc(SPANS_MOST, sizeof *spans->list);
	r = !spans->list ? -ENOMEM : spans->free < SPANS_MOST ? 0 : -ENOSPC;
	if (r == 0) {
		*ret_place = spans->free;
		spans->free += 1 + spans->list[*ret_place].skip;
	}
	pthread_mutex_unlock(&spans->lock);
	return r;
}

/* Returns the handle. */
static uint64_t span_open(struct spans *spans, uint32_t place, const struct passage *passage)
{
	uint64_t handle;

	pthread_mutex_lock(&spans->lock);
	spans->list[place].passage = *passage;
	spans->list[place].n_uses++;
	handle = handle_of(spans, place);
	pthread_mutex_unlock(&spans->lock);
	return handle;
}

/* False: there is no such open span. */
static bool span_take(struct spans *spans, uint64_t handle, struct passage *ret)
{
	const uint32_t place = (uint32_t)handle - 1;
	bool is_open;

	pthread_mutex_lock(&spans->lock);
	is_open = spans->list && place < SPANS_MOST && handle == handle_of(spans, place) &&
		  spans->list[place].n_uses & 1;
	if (is_open) {
		struct span *span = &spans->list[place];

		*ret = span->passage;
		span->n_uses++;
		span->skip = spans->free - place - 1;
		spans->free = place;
	}
	pthread_mutex_unlock(&spans->lock);
	return is_open;
}

static int span_begin(struct regions *regions, const char *name, uint64_t *ret_span)
{
	struct region *region = NULL;
	struct passage passage = { .outer = NULL };
	uint32_t place;
	int r = regions_find_or_add(regions, name, &region);

	*ret_span = 0;
	if (r < 0)
		return r;
	r = span_reserve(&regions->spans, &place);
	if (r == -ENOSPC)
		return error_say(r, "There are %d open spans already, the most.", SPANS_MOST);
	if (r < 0)
		return regions_no_memory();
	STORE(regions->team.table->regions[region->index].has_spans, 1);
	r = passage_cross(regions, &passage, region, clock_now_ns());
	*ret_span = span_open(&regions->spans, place, &passage);
	regions_trace(regions, TRACE_SPAN_BEGIN, region->index, passage.begun_ns, *ret_span);
	return r;
}

static int span_end(struct regions *regions, uint64_t handle)
{
	const uint64_t now_ns = clock_now_ns();
	struct passage passage;

	if (!span_take(&regions->spans, handle, &passage))
		return error_say(-EINVAL,
			"This span is not open: it has ended, did not begin, or began in the "
			"parent of this process.");
	regions_trace(regions, TRACE_SPAN_END, passage.region->index, now_ns, handle);
	return passage_cross(regions, &passage, NULL, now_ns);
}

_public_ int uncore_span_begin(const char *name, uint64_t *ret_span)
{
	return REGIONS_CALL(span_begin, name, ret_span);
}

_public_ int uncore_span_end(uint64_t span)
{
	return REGIONS_CALL(span_end, span);
}
