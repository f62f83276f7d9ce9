/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies shared memory that another process may write at the same time: as 64-bit words, by relaxed
 * atomic accesses, which compile to plain loads and stores. @size_bytes is a multiple of 8.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline void words_store(void *to, const void *from, size_t size_bytes)
{
	const uint64_t *source = from;
	uint64_t *target = to;

	for (size_t i = 0; i < size_bytes / sizeof *source; i++)
		__atomic_store_n(&target[i], source[i], __ATOMIC_RELAXED);
}

static inline void words_load(void *to, const void *from, size_t size_bytes)
{
	const uint64_t *source = from;
	char *target = to; /* of any type: a plain store of a word would break the aliasing rules */

	/* Unrolled: a loop this short takes twice as long if the linker happens to put it across
	 * two cache lines. */
#pragma GCC unroll 8
	for (size_t i = 0; i < size_bytes / sizeof *source; i++) {
		uint64_t word = __atomic_load_n(&source[i], __ATOMIC_RELAXED);

		memcpy(target + i * sizeof word, &word, sizeof word);
	}
}
