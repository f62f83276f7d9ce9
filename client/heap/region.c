/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which regions are open: this module stands in front of libuncore's functions, which the program,
 * its bindings for other languages and the modules of markers call. A passage that failed is open
 * all the same, and is ended: uncore.h. Only what the library refused has not happened.
 */
#include <errno.h>

#include "client/heap/account.h"
#include "client/libuncore/uncore.h"
#include "common/macro.h"

/* Calls the library's own function. A program without the library, which calls by a weak reference,
 * gets -ENOSYS. */
#define REAL(name, ...)                                                                            \
	({                                                                                         \
		typeof(name) *real_ = HEAP_REAL(typeof(name), #name, "libuncore.so.0");            \
		real_ ? real_(__VA_ARGS__) : -ENOSYS;                                              \
	})

static bool was_opened(int r)
{
	return r != -EINVAL && r != -ENOMEM && r != -ENOSPC && r != -ENOSYS;
}

static void heap_region_tell(const char *name, void (*passage)(uint32_t region))
{
	if (!heap_is_ready() || !heap_enter())
		return;
	const uint32_t region = heap_region_of(name);

	if (region < HEAP_REGIONS_MAX)
		passage(region);
	heap_is_busy = false;
}

_public_ int uncore_region_begin(const char *name)
{
	const int r = REAL(uncore_region_begin, name);

	if (was_opened(r))
		heap_region_tell(name, heap_region_enter);
	return r;
}

_public_ int uncore_region_end(const char *name)
{
	const int r = REAL(uncore_region_end, name);

	if (was_opened(r))
		heap_region_tell(name, heap_region_leave);
	return r;
}

_public_ int uncore_region_next(const char *old, const char *new_name)
{
	const int r = REAL(uncore_region_next, old, new_name);

	if (was_opened(r)) {
		heap_region_tell(old, heap_region_leave);
		heap_region_tell(new_name, heap_region_enter);
	}
	return r;
}

_public_ int uncore_span_begin(const char *name, uint64_t *ret_span)
{
	const int r = REAL(uncore_span_begin, name, ret_span);

	if (was_opened(r) && *ret_span && heap_is_ready() && heap_enter()) {
		const uint32_t region = heap_region_of(name);

		if (region < HEAP_REGIONS_MAX)
			heap_span_enter(*ret_span, region);
		heap_is_busy = false;
	}
	return r;
}

_public_ int uncore_span_end(uint64_t span)
{
	const int r = REAL(uncore_span_end, span);

	if (was_opened(r) && heap_is_ready() && heap_enter()) {
		heap_span_leave(span);
		heap_is_busy = false;
	}
	return r;
}
