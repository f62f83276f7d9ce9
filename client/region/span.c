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

enum { SPANS_MOST = 65536, SPANS_FIRST = 64 };

struct span {
	struct passage passage;
	uint32_t n_uses; /* odd: open */
	uint32_t next;   /* of the free ones; as .free of struct spans */
};

static uint64_t handle_of(const struct spans *spans, uint32_t number)
{
	return (uint64_t)spans->list[number - 1].n_uses << 32 | number;
}

/* Doubles the list. 0; -ENOMEM; -ENOSPC. */
static int grow(struct spans *spans)
{
	const uint32_t n = spans->n ? 2 * spans->n : SPANS_FIRST;
	struct span *larger;

	if (n > SPANS_MOST)
		return -ENOSPC;
	larger = realloc(spans->list, n * sizeof *larger);
	if (!larger)
		return -ENOMEM;
	for (uint32_t i = spans->n; i < n; i++)
		larger[i] = (struct span){ .next = i + 1 < n ? i + 2 : 0 };
	spans->free = spans->n + 1;
	spans->list = larger;
	spans->n = n;
	return 0;
}

static int keep(struct spans *spans, const struct passage *passage, uint64_t *ret_handle)
{
	int r = 0;

	pthread_mutex_lock(&spans->lock);
	if (!spans->free)
		r = grow(spans);
	if (r == 0) {
		const uint32_t number = spans->free;
		struct span *span = &spans->list[number - 1];

		spans->free = span->next;
		span->passage = *passage;
		span->n_uses++;
		*ret_handle = handle_of(spans, number);
	}
	pthread_mutex_unlock(&spans->lock);
	return r;
}

/* False: there is no such open span. */
static bool take(struct spans *spans, uint64_t handle, struct passage *ret)
{
	const uint32_t number = (uint32_t)handle;
	bool is_open = false;

	pthread_mutex_lock(&spans->lock);
	if (number && number <= spans->n && handle == handle_of(spans, number)) {
		struct span *span = &spans->list[number - 1];

		is_open = span->n_uses & 1;
		*ret = span->passage;
		if (is_open) {
			span->n_uses++;
			span->next = spans->free;
			spans->free = number;
		}
	}
	pthread_mutex_unlock(&spans->lock);
	return is_open;
}

static int begin(struct regions *regions, const char *name, uint64_t *ret_span)
{
	struct region *region = NULL;
	struct passage passage;
	int r = regions_find_or_add(regions, name, &region), error;

	*ret_span = 0;
	if (r < 0)
		return r;
	regions_note_span(regions, region);
	error = passage_begin(regions, region, NULL, &passage);
	r = keep(&regions->spans, &passage, ret_span);
	if (r == 0) {
		regions_trace(
			regions, TRACE_SPAN_BEGIN, region->index, passage.begun_ns, *ret_span);
		return error;
	}
	passage_end(regions, &passage, clock_now_ns());
	return r == -ENOSPC ? error_say(r, "There are %d open spans already, the most.", SPANS_MOST)
			    : regions_no_memory();
}

static int end(struct regions *regions, uint64_t handle)
{
	const uint64_t now_ns = clock_now_ns();
	struct passage passage;

	if (!take(&regions->spans, handle, &passage))
		return error_say(-EINVAL,
			"This span is not open: it has ended, did not begin, or began in the "
			"parent of this process.");
	regions_trace(regions, TRACE_SPAN_END, passage.region->index, now_ns, handle);
	return passage_end(regions, &passage, now_ns);
}

_public_ int uncore_span_begin(const char *name, uint64_t *ret_span)
{
	return REGIONS_CALL(begin, name, ret_span);
}

_public_ int uncore_span_end(uint64_t span)
{
	return REGIONS_CALL(end, span);
}
