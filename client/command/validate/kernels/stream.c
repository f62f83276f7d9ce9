/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams: loops that go through arrays from one end to the other. A stream that is read moves 8
 * bytes an iteration. A stream that is written moves 8, and 8 more that are read first, since a
 * cache fetches a line before a store to it. That is the write-allocate. A non-temporal store needs
 * none, nor does a store to what the loop reads anyway.
 */
#include "client/command/validate/kernels/kernel.h"
#include "client/command/validate/kernels/whole-lines.h"

enum { ARRAY_CACHES = 8, PAIR = sizeof(pair) / sizeof(double) };

volatile double kernel_sink;

static const pair SOME = { 1.5, 1.5 };

static void stream_choose_size(const struct kernel_wish *wish, struct kernel_size *ret)
{
	uint64_t n =
		wish->number ? wish->number : ARRAY_CACHES * wish->cache_bytes / sizeof(double);

	*ret = (struct kernel_size){ .n = (n + BLOCK_ELEMENTS - 1) / BLOCK_ELEMENTS *
					  BLOCK_ELEMENTS };
}

static size_t stream_elements(const struct kernel_size *size, unsigned array)
{
	(void)array;
	return size->n;
}

static struct kernel_traffic predict(
	const struct kernel *kernel, const struct kernel_size *size, uint64_t cache_bytes)
{
	double bytes = (double)(size->n * sizeof(double));

	(void)cache_bytes;
	return (struct kernel_traffic){
		.read = bytes * kernel->streams.read,
		.allocated = bytes * kernel->streams.allocated,
		.written = bytes * kernel->streams.written,
	};
}

static void load(double *const arrays[], const struct kernel_size *size)
{
	const double *from = arrays[0];
	pair sum = { 0, 0 };

	for (size_t i = 0, n = size->n; i < n; i += PAIR)
		sum += *(const pair *)(from + i);
	kernel_sink = sum[0] + sum[1];
}

static inline void store(double *const arrays[], const struct kernel_size *size, unsigned streams)
{
	for (size_t i = 0, n = size->n; i < n; i += PAIR)
		for (unsigned k = 0; k < streams; k++)
			*(pair *)(arrays[k] + i) = SOME;
}

/* Writes a whole line of one stream, then of the next: a core has few write-combining buffers. */
static inline void storent(double *const arrays[], const struct kernel_size *size, unsigned streams)
{
	for (size_t i = 0, n = size->n; i < n; i += LINE_ELEMENTS)
		for (unsigned k = 0; k < streams; k++)
			for (size_t j = 0; j < LINE_ELEMENTS; j += PAIR)
				store_nontemporal(arrays[k] + i + j, SOME);
	store_fence();
}

/* The compiler has to know the number of streams, so that it unrolls the loops over them. */
#define STORES(streams)                                                                            \
	static void store##streams(double *const arrays[], const struct kernel_size *size)         \
	{                                                                                          \
		store(arrays, size, streams);                                                      \
	}                                                                                          \
	static void storent##streams(double *const arrays[], const struct kernel_size *size)       \
	{                                                                                          \
		storent(arrays, size, streams);                                                    \
	}

STORES(1)
STORES(2)
STORES(3)

static void copy(double *const arrays[], const struct kernel_size *size)
{
	const double *from = arrays[0];
	double *to = arrays[1];

	for (size_t i = 0, n = size->n; i < n; i += PAIR)
		*(pair *)(to + i) = *(const pair *)(from + i);
}

static void copynt(double *const arrays[], const struct kernel_size *size)
{
	const double *from = arrays[0];
	double *to = arrays[1];

	for (size_t i = 0, n = size->n; i < n; i += PAIR)
		store_nontemporal(to + i, *(const pair *)(from + i));
	store_fence();
}

static void update(double *const arrays[], const struct kernel_size *size)
{
	double *both = arrays[0];

	for (size_t i = 0, n = size->n; i < n; i += PAIR)
		*(pair *)(both + i) *= SOME;
}

static void triad(double *const arrays[], const struct kernel_size *size)
{
	double *to = arrays[0];
	const double *one = arrays[1], *other = arrays[2];

	for (size_t i = 0, n = size->n; i < n; i += PAIR)
		*(pair *)(to + i) = *(const pair *)(one + i) + SOME * *(const pair *)(other + i);
}

static void fill(double *const arrays[], const struct kernel_size *size)
{
	fill_zero(arrays[0], size->n);
}

#define STREAM(kernel, does, arrays, ...)                                                          \
	.name = #kernel, .what = does, .measure = "elements", .n_arrays = arrays,                  \
	.streams = { __VA_ARGS__ }, .choose = stream_choose_size, .elements = stream_elements,     \
	.run = kernel, .predict = predict

const struct kernel stream_kernels[] = {
	{ STREAM(load, "sum of an array", 1, 1, 0, 0), .is_judged = true },
	{ STREAM(update, "an array times a number, in place", 1, 1, 0, 1), .is_judged = true },
	{ STREAM(storent1, "non-temporal stores to an array", 1, 0, 0, 1), .is_judged = true,
		.absent = NONTEMPORAL_ABSENT },
	{ STREAM(storent2, "non-temporal stores to two arrays", 2, 0, 0, 2),
		.absent = NONTEMPORAL_ABSENT },
	{ STREAM(storent3, "non-temporal stores to three arrays", 3, 0, 0, 3),
		.absent = NONTEMPORAL_ABSENT },
	{ STREAM(fill, "an array set to 0 by whole lines", 1, 0, 1, 1), .absent = FILL_ABSENT },
	{ STREAM(store1, "stores to an array", 1, 0, 1, 1) },
	{ STREAM(store2, "stores to two arrays", 2, 0, 2, 2) },
	{ STREAM(store3, "stores to three arrays", 3, 0, 3, 3) },
	{ STREAM(copy, "copy of an array", 2, 1, 1, 1) },
	{ STREAM(copynt, "copy of an array by non-temporal stores", 2, 1, 0, 1),
		.absent = NONTEMPORAL_ABSENT },
	{ STREAM(triad, "an array and another times a number, into a third", 3, 2, 1, 1) },
	{},
};
