/* SPDX-License-Identifier: BSD-3-Clause */
/* Accesses of x86-64: accesses.h. test_accesses.py says what each of them should move. */
#include "tests/traffic/accesses.h"

#include <err.h>
#include <immintrin.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tests/harness/program.h"

enum {
	WORDS = LINE / 8, /* of a line */
	THREADS = 4,
	PASSES = 1024,
};

static volatile uint64_t *word(size_t byte)
{
	return (volatile uint64_t *)(memory + byte);
}

/* --- ordinary loads and stores --- */

static void load_lines(void)
{
	for (size_t i = 0; i < LINES; i++)
		sink = *word(i * LINE);
}

static void load_across_lines(void)
{
	for (size_t i = 0; i < LINES; i += 2)
		sink = *word((i + 1) * LINE - 4);
}

static void store_across_lines(void)
{
	for (size_t i = 0; i < LINES; i += 2)
		*word((i + 1) * LINE - 1) = 1;
}

static void load_vector_across_lines(void)
{
	for (size_t i = 0; i < LINES; i += 2)
		sink = (uint64_t)_mm_cvtsi128_si64(
			_mm_loadu_si128((const __m128i *)(memory + (i + 1) * LINE - 3)));
}

static __attribute__((target("avx"))) void store_avx_across_lines(void)
{
	for (size_t i = 0; i < LINES; i += 2)
		_mm256_storeu_si256((__m256i *)(memory + (i + 1) * LINE - 20), _mm256_set1_epi8(1));
}

static void add_locked(void)
{
	for (size_t i = 0; i < LINES; i++)
		__atomic_fetch_add((uint64_t *)(memory + i * LINE), 1, __ATOMIC_SEQ_CST);
}

static void store_words(void)
{
	for (size_t i = 0; i < BYTES; i += 8)
		*word(i) = 1;
}

/* Each second line: no stream. */
static void store_odd_lines(void)
{
	for (size_t i = 0; i < LINES; i += 2)
		for (size_t k = 0; k < WORDS; k++)
			*word(i * LINE + 8 * k) = 1;
}

static void store_parts(void)
{
	for (size_t i = 0; i < LINES; i++)
		*word(i * LINE) = 1;
}

static void store_and_load_words(void)
{
	for (size_t i = 0; i < BYTES; i += 8) {
		*word(i) = 1;
		sink = *word(i);
	}
}

static void load_before_stored(void)
{
	for (size_t i = 0; i < LINES; i++) {
		*word(i * LINE) = 1;
		sink = *word(i * LINE + 8);
		for (size_t k = 0; k < WORDS; k++)
			*word(i * LINE + 8 * k) = 1;
	}
}

static void load_even_lines(void)
{
	for (size_t i = 0; i < LINES; i += 2)
		sink = *word(i * LINE);
}

/* --- repeated string instructions --- */

static void fill_bytes(char *to, size_t count)
{
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(0) : "memory");
}

static void fill_aligned(void)
{
	fill_bytes(memory, BYTES);
}

/* Of four lines the first and the last are written in part. */
static void fill_unaligned(void)
{
	for (size_t i = 0; i < LINES; i += 4)
		fill_bytes(memory + i * LINE + 13, 4 * LINE - 26);
}

static void fill_backwards(void)
{
	char *to = memory + BYTES - 8;
	size_t count = BYTES / 8;

	__asm__ volatile("std\n\trep stosq\n\tcld" : "+D"(to), "+c"(count) : "a"(0) : "memory");
}

static void move_lines(void)
{
	const char *from = memory;
	char *to = memory + BYTES / 2;
	size_t count = BYTES / 2 / 8;

	__asm__ volatile("rep movsq" : "+S"(from), "+D"(to), "+c"(count) : : "memory");
}

/* --- non-temporal stores --- */

static void store_past(void)
{
	for (size_t i = 0; i < BYTES; i += 16)
		_mm_stream_si128((__m128i *)(memory + i), _mm_set1_epi8(1));
	_mm_sfence();
}

static __attribute__((target("avx"))) void store_past_avx(void)
{
	for (size_t i = 0; i < BYTES; i += 32)
		_mm256_stream_si256((__m256i *)(memory + i), _mm256_set1_epi8(1));
	_mm_sfence();
}

static void store_past_integers(void)
{
	for (size_t i = 0; i < BYTES; i += 4)
		_mm_stream_si32((int *)(memory + i), 1);
	_mm_sfence();
}

static void store_past_masked(void)
{
	for (size_t i = 0; i < BYTES; i += 16)
		_mm_maskmoveu_si128(_mm_set1_epi8(1), _mm_set1_epi8(-1), memory + i);
	_mm_sfence();
}

static void store_past_parts(void)
{
	for (size_t i = 0; i < LINES; i++)
		_mm_stream_si64((long long *)(memory + i * LINE), 1);
	_mm_sfence();
}

/* Eleven streams at once are one more than there are buffers. */
static void store_past_in_turns(void)
{
	for (size_t k = 0; k < WORDS; k++)
		for (size_t i = 0; i < 11; i++)
			_mm_stream_si64((long long *)(memory + i * LINE + 8 * k), 1);
	_mm_sfence();
}

static void store_past_what_is_dirty(void)
{
	store_words();
	store_past();
}

/* The even lines go past the caches, which have the odd ones. */
static void store_past_beside_dirty(void)
{
	store_words();
	for (size_t i = 0; i < LINES; i += 2)
		for (size_t k = 0; k < LINE; k += 16)
			_mm_stream_si128((__m128i *)(memory + i * LINE + k), _mm_set1_epi8(1));
	_mm_sfence();
}

static void load_what_was_stored_past(void)
{
	for (size_t i = 0; i < LINES; i++) {
		_mm_stream_si64((long long *)(memory + i * LINE), 1);
		sink = *word(i * LINE);
	}
}

/* --- threads and nodes --- */

/* @at: the part of the memory that is this thread's */
static void *store_past_often(void *at)
{
	for (unsigned pass = 0; pass < PASSES; pass++)
		for (size_t i = 0; i < BYTES / THREADS; i += 16)
			_mm_stream_si128((__m128i *)((char *)at + i), _mm_set1_epi8(1));
	_mm_sfence();
	return NULL;
}

static void store_past_in_threads(void)
{
	pthread_t threads[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		if (pthread_create(
			    &threads[i], NULL, store_past_often, memory + i * BYTES / THREADS))
			errx(1, "There is no thread.");
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void *load_on_1(void *unused)
{
	(void)unused;
	program_run_on(1);
	load_lines();
	return NULL;
}

static void in_thread(void *(*function)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, NULL) || pthread_join(thread, NULL))
		errx(1, "There is no thread.");
}

static void load_on_socket_1(void)
{
	in_thread(load_on_1);
}

/* Memory stays where it was touched first. */
static void load_on_both_sockets(void)
{
	program_run_on(0);
	load_lines();
	in_thread(load_on_1);
}

static void load_mapped_again(void)
{
	program_run_on(0);
	load_lines();
	if (mmap(memory, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		    0) != memory)
		err(1, "Memory cannot be mapped again");
	in_thread(load_on_1);
}

const struct access_case access_cases[] = {
	{ ACCESS_CASE(load_lines) },
	{ ACCESS_CASE(load_across_lines) },
	{ ACCESS_CASE(store_across_lines) },
	{ ACCESS_CASE(load_vector_across_lines) },
	{ ACCESS_CASE(store_avx_across_lines) },
	{ ACCESS_CASE(add_locked) },
	{ ACCESS_CASE(store_words) },
	{ ACCESS_CASE(store_odd_lines) },
	{ ACCESS_CASE(store_parts) },
	{ ACCESS_CASE(store_and_load_words) },
	{ ACCESS_CASE(load_before_stored) },
	{ ACCESS_CASE(load_even_lines) },
	{ ACCESS_CASE(fill_aligned) },
	{ ACCESS_CASE(fill_unaligned) },
	{ ACCESS_CASE(fill_backwards) },
	{ ACCESS_CASE(move_lines) },
	{ ACCESS_CASE(store_past) },
	{ ACCESS_CASE(store_past_avx) },
	{ ACCESS_CASE(store_past_integers) },
	{ ACCESS_CASE(store_past_masked) },
	{ ACCESS_CASE(store_past_parts) },
	{ ACCESS_CASE(store_past_in_turns) },
	{ ACCESS_CASE(store_past_what_is_dirty) },
	{ ACCESS_CASE(store_past_beside_dirty) },
	{ ACCESS_CASE(load_what_was_stored_past) },
	{ ACCESS_CASE(store_past_in_threads) },
	{ ACCESS_CASE(load_on_socket_1) },
	{ ACCESS_CASE(load_on_both_sockets) },
	{ ACCESS_CASE(load_mapped_again) },
	{},
};
