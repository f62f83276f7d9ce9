/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sequence lock of what one member writes in a table, and others read without a lock: a cell or
 * a nest. It is the first word, odd while the rest is being written.
 */
#pragma once

#include "client/region/table.h"

enum { SEQUENCE_TRIES = 1000 }; /* a write takes a few ns */

static inline void sequence_begin(uint32_t *lock)
{
	__atomic_store_n(lock, *lock + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

/* Between the two. */
#define SEQUENCE_ADD(field, amount) __atomic_store_n(&(field), (field) + (amount), __ATOMIC_RELAXED)

static inline void sequence_end(uint32_t *lock)
{
	__atomic_store_n(lock, *lock + 1, __ATOMIC_RELEASE);
}

/* A consistent copy of the @size_bytes that begin with @lock; of a member that died while it wrote,
 * what is there. See table_copy(). */
static inline void sequence_copy(void *ret, const uint32_t *lock, size_t size_bytes)
{
	for (int i = 0; i < SEQUENCE_TRIES; i++) {
		const uint32_t before = __atomic_load_n(lock, __ATOMIC_ACQUIRE);

		table_copy(ret, lock, size_bytes);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(before & 1) && __atomic_load_n(lock, __ATOMIC_RELAXED) == before)
			return;
	}
}
