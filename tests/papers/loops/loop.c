/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/papers/loops/loop.h"

#include <string.h>

#include "common/macro.h"
#include "tests/papers/loops/cell.h"

enum { ARRAY_CACHES = 4, PAPER_COLUMNS = 15360 };

/* --- the loops, for one cell: the arrays in the order of loops.csv, those that are written first
 * --- */

static inline void am00(struct cell c)
{
	set(c, 0, 2, here(c, 2) + rows2(c, 3));
	set(c, 1, 2, here(c, 2) + columns2(c, 4));
}

static inline void am01(struct cell c)
{
	set(c, 0, 2, here(c, 2) + columns2(c, 3));
	set(c, 1, 2, here(c, 2) + rows2(c, 4));
}

static inline void am02(struct cell c)
{
	set(c, 0, 1, here(c, 2));
	set(c, 1, 2, here(c, 2) + rows2(c, 3));
}

static inline void am03(struct cell c)
{
	set(c, 0, 1, here(c, 2));
	set(c, 1, 2, here(c, 2) + columns2(c, 3));
}

static inline void am04(struct cell c)
{
	set(c, 0, 1, square(c, 1));
}

static inline void am05(struct cell c)
{
	set(c, 0, 2, square(c, 2) + square(c, 3));
	set(c, 1, 2, square(c, 2) + columns2(c, 4));
}

static inline void am06(struct cell c)
{
	set(c, 0, 4, here(c, 1) + columns2(c, 2) + columns3(c, 3) + along(c, 4));
}

static inline void am07(struct cell c)
{
	update(c, 0, 4, here(c, 0) + here(c, 1) + columns2(c, 2) + here(c, 3));
}

static inline void am09(struct cell c)
{
	set(c, 0, 2, square(c, 2) + square(c, 3));
	set(c, 1, 2, square(c, 2) + rows2(c, 4));
}

static inline void am10(struct cell c)
{
	set(c, 0, 3, here(c, 1) + here(c, 2) + rows3(c, 3));
}

static inline void am11(struct cell c)
{
	update(c, 0, 4, here(c, 0) + here(c, 1) + rows2(c, 2) + here(c, 3));
}

static inline void ac02(struct cell c)
{
	set(c, 0, 4, here(c, 2) + columns2(c, 3) + columns3(c, 4) + along(c, 6));
	set(c, 1, 2, here(c, 2) + columns3(c, 5));
}

static inline void ac03(struct cell c)
{
	update(c, 0, 4, here(c, 0) + here(c, 2) + columns2(c, 3) + columns2(c, 5));
	update(c, 1, 3, here(c, 1) + here(c, 2) + columns2(c, 4));
}

static inline void ac06(struct cell c)
{
	set(c, 0, 3, here(c, 2) + here(c, 3) + rows3(c, 4));
	set(c, 1, 2, here(c, 2) + rows3(c, 5));
}

static inline void ac07(struct cell c)
{
	update(c, 0, 4, here(c, 0) + here(c, 2) + rows2(c, 3) + rows2(c, 5));
	update(c, 1, 3, here(c, 1) + here(c, 2) + rows2(c, 4));
}

static inline void pdv00(struct cell c)
{
	double flow = columns2(c, 2) + rows2(c, 3) + square(c, 9) + square(c, 10);

	set(c, 0, 8, flow + here(c, 4) + here(c, 6) + here(c, 7) + here(c, 8));
	set(c, 1, 6, flow + here(c, 4) + here(c, 5));
}

static inline void pdv01(struct cell c)
{
	double flow = columns2(c, 2) + rows2(c, 3) + square(c, 9) + square(c, 10) + square(c, 11) +
		      square(c, 12);

	set(c, 0, 10, flow + here(c, 4) + here(c, 6) + here(c, 7) + here(c, 8));
	set(c, 1, 8, flow + here(c, 4) + here(c, 5));
}

/* --- all cells --- */

/* Inlined, so that @cell and @past are known when the loop is compiled. */
static inline __attribute__((always_inline)) void run(double *const arrays[],
	const struct kernel_size *size, void (*cell)(struct cell), bool past)
{
	size_t step = size->columns + LOOP_MARGIN;

	for (size_t row = 0; row < size->rows; row++) {
		struct cell c = { .arrays = arrays, .step = step, .past = past };

		for (size_t i = 0; i < size->columns; i++) {
			c.at = (row + LOOP_BEFORE) * step + LOOP_BEFORE + i;
			c.column = LOOP_BEFORE + i;
			cell(c);
		}
	}
}

#define FUNCTIONS(cell)                                                                            \
	static void cell##_all(double *const arrays[], const struct kernel_size *size)             \
	{                                                                                          \
		run(arrays, size, cell, false);                                                    \
	}                                                                                          \
	static void cell##_past(double *const arrays[], const struct kernel_size *size)            \
	{                                                                                          \
		run(arrays, size, cell, true);                                                     \
	}

FUNCTIONS(am00)
FUNCTIONS(am01)
FUNCTIONS(am02)
FUNCTIONS(am03)
FUNCTIONS(am04)
FUNCTIONS(am05)
FUNCTIONS(am06)
FUNCTIONS(am07)
FUNCTIONS(am09)
FUNCTIONS(am10)
FUNCTIONS(am11)
FUNCTIONS(ac02)
FUNCTIONS(ac03)
FUNCTIONS(ac06)
FUNCTIONS(ac07)
FUNCTIONS(pdv00)
FUNCTIONS(pdv01)

/* --- as kernels --- */

static const struct loop *loop_of(const struct kernel *kernel)
{
	return (const struct loop *)((const char *)kernel - offsetof(struct loop, kernel));
}

static void choose(const struct kernel_wish *wish, struct kernel_size *ret)
{
	size_t columns = wish->number ? wish->number : PAPER_COLUMNS;
	size_t row_bytes = (columns + LOOP_MARGIN) * sizeof(double);

	*ret = (struct kernel_size){ .columns = columns,
		.rows = (size_t)(ARRAY_CACHES * wish->cache_bytes / row_bytes) + 1 };
}

/* Every array has room for the grid: a vector then costs memory, and needs no function of its own.
 */
static size_t elements(const struct kernel_size *size, unsigned array)
{
	(void)array;
	return (size->rows + LOOP_MARGIN) * (size->columns + LOOP_MARGIN);
}

/* The paper's rule: half of the cache holds each row that is read or written, once. */
static struct kernel_traffic predict(
	const struct kernel *kernel, const struct kernel_size *size, uint64_t cache_bytes)
{
	const struct loop *loop = loop_of(kernel);
	double bytes = (double)(size->rows * size->columns * sizeof(double));
	double rows = loop->broken + kernel->streams.allocated;
	double live = rows * (double)((size->columns + LOOP_MARGIN) * sizeof(double));
	unsigned reads = live < (double)cache_bytes / 2 ? kernel->streams.read : loop->broken;

	return (struct kernel_traffic){
		.read = reads * bytes,
		.allocated = kernel->streams.allocated * bytes,
		.written = kernel->streams.written * bytes,
	};
}

/*
 * Loop; whose accesses it has; what it is for; arrays of two and of one dimension; elements that a
 * cell reads where no row stays in the cache, and where all that are used again do; elements
 * allocated, and written.
 */
#define LOOPS(ROW)                                                                                 \
	ROW(am00, am00, "volumes of x sweep 1", 5, 0, 4, 3, 2, 2)                                  \
	ROW(am01, am01, "volumes of y sweep 1", 5, 0, 4, 3, 2, 2)                                  \
	ROW(am02, am02, "volumes of x sweep 2", 4, 0, 3, 2, 2, 2)                                  \
	ROW(am03, am03, "volumes of y sweep 2", 4, 0, 2, 2, 2, 2)                                  \
	ROW(am04, am04, "flux at nodes in x", 2, 0, 2, 1, 1, 1)                                    \
	ROW(am05, am05, "mass at nodes in x", 5, 0, 5, 3, 2, 2)                                    \
	ROW(am06, am06, "momentum flux in x", 4, 1, 4, 3, 1, 1)                                    \
	ROW(am07, am07, "velocity in x", 4, 0, 4, 4, 0, 1)                                         \
	ROW(am08, am04, "flux at nodes in y", 2, 0, 2, 1, 1, 1)                                    \
	ROW(am09, am09, "mass at nodes in y", 5, 0, 6, 3, 2, 2)                                    \
	ROW(am10, am10, "momentum flux in y", 4, 0, 5, 3, 1, 1)                                    \
	ROW(am11, am11, "velocity in y", 4, 0, 5, 4, 0, 1)                                         \
	ROW(ac00, am01, "volumes of x sweep 1", 5, 0, 4, 3, 2, 2)                                  \
	ROW(ac01, am03, "volumes of x sweep 2", 4, 0, 2, 2, 2, 2)                                  \
	ROW(ac02, ac02, "mass and energy flux in x", 6, 1, 5, 4, 2, 2)                             \
	ROW(ac03, ac03, "density and energy in x", 6, 0, 6, 6, 0, 2)                               \
	ROW(ac04, am00, "volumes of y sweep 1", 5, 0, 4, 3, 2, 2)                                  \
	ROW(ac05, am02, "volumes of y sweep 2", 4, 0, 3, 2, 2, 2)                                  \
	ROW(ac06, ac06, "mass and energy flux in y", 6, 0, 8, 4, 2, 2)                             \
	ROW(ac07, ac07, "density and energy in y", 6, 0, 9, 6, 0, 2)                               \
	ROW(pdv00, pdv00, "predictor", 11, 0, 12, 9, 2, 2)                                         \
	ROW(pdv01, pdv01, "corrector", 13, 0, 16, 11, 2, 2)

#define LOOP(name_, run_, why, does, grids, vectors, lcb, ...)                                     \
	{ .broken = lcb,                                                                           \
		.n_vectors = vectors,                                                              \
		.kernel = { .name = name_,                                                         \
			.what = does,                                                              \
			.measure = "columns",                                                      \
			.n_arrays = grids + vectors,                                               \
			.streams = { __VA_ARGS__ },                                                \
			.choose = choose,                                                          \
			.elements = elements,                                                      \
			.run = run_,                                                               \
			.predict = predict,                                                        \
			.absent = why } },
#define PLAIN(name, cell, ...) LOOP(#name, cell##_all, NULL, __VA_ARGS__)
#define PAST(name, cell, ...)  LOOP(#name "nt", cell##_past, CELL_NONTEMPORAL_ABSENT, __VA_ARGS__)

static const struct loop loops[] = { LOOPS(PLAIN) LOOPS(PAST) };

const struct loop *loop_nth(size_t i)
{
	return i < ARRAY_SIZE(loops) ? &loops[i] : NULL;
}

const struct loop *loop_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(loops); i++)
		if (strcmp(loops[i].kernel.name, name) == 0)
			return &loops[i];
	return NULL;
}

void loop_from_row(const struct loop *loop, const struct kernel_size *size, size_t row,
	double *const arrays[], double *ret_arrays[])
{
	unsigned n_grids = loop->kernel.n_arrays - loop->n_vectors;

	for (unsigned i = 0; i < loop->kernel.n_arrays; i++)
		ret_arrays[i] = arrays[i] + (i < n_grids ? row * (size->columns + LOOP_MARGIN) : 0);
}
