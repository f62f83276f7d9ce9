/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that allocate, and are kept if they are large and a program's own. */
#pragma once

#include "client/heap/account.h"

/* Ends what heap_enter() began, and gave as @is_first. Returns @memory. */
static inline void *heap_keep(
	bool is_first, const char *kind, void *memory, size_t size, const void *caller)
{
	if (is_first && memory && size >= heap_real.min_bytes)
		heap_add(kind, memory, size, caller);
	if (is_first)
		heap_is_busy = false;
	return memory;
}

/* Evaluates @call between both. */
#define HEAP_KEPT(kind, size, caller, call)                                                        \
	({                                                                                         \
		const bool is_first_ = heap_enter();                                               \
		void *memory_ = (call);                                                            \
		heap_keep(is_first_, kind, memory_, size, caller);                                 \
	})
