/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops over rows and columns of a grid that is stored row by row. */

#include "client/command/validate/kernels/kernel.h"

enum {
	LINE_BYTES = 64,
	ARRAY_CACHES = 8,
	HALO_COLUMNS = 216,    /* of the CloverLeaf paper's figures 8 and 10 */
	STENCIL_COLUMNS = 500, /* rows that fit into a cache of some 100 KiB many times */
	STENCIL_BORDER = 2,    /* one row or column on each side */
};

/* --- halocopy: the copy of a part of each row --- */

static void halocopy_choose(const struct kernel_wish *wish, struct kernel_size *ret)
{
	ret->columns = wish->number ? wish->number : HALO_COLUMNS;
	ret->halo = wish->halo;
	ret->rows = kernel_parts(wish, ARRAY_CACHES, ret->columns + ret->halo);
}

static size_t halocopy_elements(const struct kernel_size *size, unsigned array)
{
	(void)array;
	return size->rows * (size->columns + size->halo);
}

static void halocopy(double *const arrays[], const struct kernel_size *size)
{
	const double *from = arrays[0];
	double *to = arrays[1];
	size_t columns = size->columns, step = columns + size->halo;

	for (size_t row = 0; row < size->rows; row++) {
		for (size_t i = 0; i < columns; i++)
			to[row * step + i] = from[row * step + i];
	}
}

/*
 * The number of lines that the rows touch. Neighbouring rows can share a line if less than a line
 * lies between them. *@ret_whole is the number of lines that are written from end to end.
 */
static size_t lines_touched(const struct kernel_size *size, size_t *ret_whole)
{
	size_t step = (size->columns + size->halo) * sizeof(double), next = 0, touched = 0;
	size_t in_line = 0; /* bytes written to line next - 1 */

	*ret_whole = 0;
	for (size_t row = 0; row < size->rows; row++) {
		size_t begin = row * step, end = begin + size->columns * sizeof(double);

		for (size_t line = begin / LINE_BYTES; line * LINE_BYTES < end; line++) {
			size_t from = line * LINE_BYTES > begin ? line * LINE_BYTES : begin;
			size_t to = (line + 1) * LINE_BYTES < end ? (line + 1) * LINE_BYTES : end;

			in_line = line < next ? in_line + to - from : to - from;
			touched += line >= next;
			*ret_whole += in_line == LINE_BYTES;
			next = line + 1;
		}
	}
	return touched;
}

static struct kernel_traffic halocopy_predict(
	const struct kernel *kernel, const struct kernel_size *size, uint64_t cache_bytes)
{
	size_t whole, touched = lines_touched(size, &whole);

	(void)kernel;
	(void)cache_bytes;
	/* Every CPU has to read a line that is not written from end to end. */
	return (struct kernel_traffic){
		.read = (double)((2 * touched - whole) * LINE_BYTES),
		.allocated = (double)(whole * LINE_BYTES),
		.written = (double)(touched * LINE_BYTES),
	};
}

/* --- stencil: the average of four neighbours, Listing 1 of the CloverLeaf paper --- */

static void stencil_choose(const struct kernel_wish *wish, struct kernel_size *ret)
{
	ret->columns = wish->number ? wish->number : STENCIL_COLUMNS;
	ret->rows = kernel_parts(wish, ARRAY_CACHES, ret->columns + STENCIL_BORDER);
}

static size_t stencil_elements(const struct kernel_size *size, unsigned array)
{
	(void)array;
	return (size->rows + STENCIL_BORDER) * (size->columns + STENCIL_BORDER);
}

static void stencil(double *const arrays[], const struct kernel_size *size)
{
	size_t columns = size->columns, step = columns + STENCIL_BORDER;

	for (size_t row = 1; row <= size->rows; row++) {
		const double *from = arrays[0] + row * step;
		double *to = arrays[1] + row * step;

		for (size_t i = 1; i <= columns; i++)
			to[i] = .25 * (from[i - step] + from[i - 1] + from[i + 1] + from[i + step]);
	}
}

/* The paper's rule: what takes at most half of the cache stays in it. Three rows are read, one is
 * written. */
static struct kernel_traffic stencil_predict(
	const struct kernel *kernel, const struct kernel_size *size, uint64_t cache_bytes)
{
	double bytes = (double)(size->rows * size->columns * sizeof(double));
	double step = (double)((size->columns + STENCIL_BORDER) * sizeof(double));
	bool holds = 4 * step < (double)cache_bytes / 2;

	(void)kernel;
	return (struct kernel_traffic){
		.read = (holds ? 1 : 3) * bytes,
		.allocated = bytes,
		.written = bytes,
	};
}

const struct kernel grid_kernels[] = {
	{ KERNEL(halocopy, "copy of rows, without a halo behind each", "columns", 2) },
	{ KERNEL(stencil, "average of four neighbours", "columns", 2) },
	{},
};
