/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sequence lock for data in a table that one member writes, and others read without a lock: a
 * cell or a nest. The lock is the first word of the data. It is odd during a write.
 */
#pragma once

#include "client/region/table.h"

enum { SEQUENCE_TRIES = 1000 }; /* a write takes a few ns */

static inline void sequence_begin(uint32_t *lock)
{
	__atomic_store_n(lock, *lock + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

/* For use between sequence_begin() and sequence_end(). */
#define SEQUENCE_ADD(field, amount) __atomic_store_n(&(field), (field) + (amount), __ATOMIC_RELAXED)

static inline void sequence_end(uint32_t *lock)
{
	__atomic_store_n(lock, *lock + 1, __ATOMIC_RELEASE);
}

/* Makes a consistent copy of the @size_bytes that begin with @lock. If the member died during a
 * write, copies what is there. See table_copy(). */
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
