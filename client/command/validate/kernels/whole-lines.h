/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stores that need no read of the line that they write: non-temporal stores, which bypass the
 * caches, and instructions that claim a whole line in the cache. Each instruction set has its own,
 * or none.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined __x86_64__
#include <emmintrin.h>
#endif

enum {
	LINE_ELEMENTS = 8,   /* of 8 bytes, in a line of 64 */
	BLOCK_ELEMENTS = 32, /* in the largest block that an instruction clears: dc zva of A64FX */
};

/* Two doubles, as every vector unit loads and stores them. */
typedef double pair __attribute__((vector_size(16)));

#if defined __x86_64__
#define NONTEMPORAL_ABSENT NULL
#else
#define NONTEMPORAL_ABSENT                                                                         \
	"This CPU has no store of which it is known that it goes past the caches."
#endif

#if defined __x86_64__ || defined __powerpc64__ || defined __aarch64__
#define FILL_ABSENT NULL
#else
#define FILL_ABSENT "No instruction of this CPU is known that claims a whole cache line."
#endif

/* Writes @value past the caches. */
static inline void store_nontemporal(double *at, pair value)
{
#if defined __x86_64__
	_mm_stream_pd(at, (__m128d)value);
#else
	*(pair *)at = value;
#endif
}

/* Earlier non-temporal stores become visible before later ones. */
static inline void store_fence(void)
{
#if defined __x86_64__
	_mm_sfence();
#endif
}

#if defined __aarch64__
/* Arm Architecture Reference Manual, DCZID_EL0: log2 of the block in words of 4 bytes; bit 4
 * forbids dc zva. 0: it may not be used, or clears more than BLOCK_ELEMENTS. */
static inline size_t zero_block_bytes(void)
{
	uint64_t id;

	__asm__("mrs %0, dczid_el0" : "=r"(id));
	return id & 16 || (id & 15) > 6 ? 0 : (size_t)4 << (id & 15);
}
#endif

/*
 * Sets @n elements to 0 with the instruction that claims whole lines: rep stosq, dcbz (128 bytes on
 * POWER, Power ISA Book II), dc zva. @n is a multiple of BLOCK_ELEMENTS, and @at is aligned to that
 * many elements.
 */
static inline void fill_zero(double *at, size_t n)
{
#if defined __x86_64__
	__asm__ volatile("rep stosq" : "+D"(at), "+c"(n) : "a"(0) : "memory");
#elif defined __powerpc64__
	for (size_t i = 0; i < n; i += 16)
		__asm__ volatile("dcbz 0,%0" : : "r"(at + i) : "memory");
#elif defined __aarch64__
	size_t step = zero_block_bytes() / sizeof *at;

	for (size_t i = 0; step && i < n; i += step)
		__asm__ volatile("dc zva, %0" : : "r"(at + i) : "memory");
	for (size_t i = 0; !step && i < n; i++)
		at[i] = 0;
#else
	for (size_t i = 0; i < n; i++)
		at[i] = 0;
#endif
}
