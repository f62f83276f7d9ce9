/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The re-sorting of a 3D FFT that is spread over a grid of 2 x 4 ranks: listings 5 to 8 of the PAPI
 * and PCP paper. N is the edge of the whole cube; a rank has N/2 planes of N/4 rows of N columns.
 * Elements are complex, of 16 bytes.
 */
#include <math.h>

#include "client/command/validate/kernels/kernel.h"

enum { ARRAY_CACHES = 4, GRID_ROWS = 2, GRID_COLUMNS = 4, LINE_BYTES = 64 };

typedef double complex_pair __attribute__((vector_size(16)));

/* Strides of a power of two use only a few sets of a cache, so N is 4 times an odd number. */
static void resort_choose_size(const struct kernel_wish *wish, struct kernel_size *ret)
{
	double rank_elements = (double)(ARRAY_CACHES * wish->cache_bytes) / sizeof(complex_pair);
	uint64_t edge = (uint64_t)cbrt(rank_elements * GRID_ROWS * GRID_COLUMNS);
	uint64_t n = wish->number ? wish->number : 4 * (edge / 4 | 1);

	n = n / GRID_COLUMNS * GRID_COLUMNS;
	ret->planes = n / GRID_ROWS;
	ret->rows = n / GRID_COLUMNS;
	ret->columns = n;
}

static size_t n_complex(const struct kernel_size *size)
{
	return size->planes * size->rows * size->columns;
}

static size_t resort_elements(const struct kernel_size *size, unsigned array)
{
	(void)array;
	return 2 * n_complex(size);
}

/* S1CF, the first nest: tmp[plane][row][column] = in[..] */
static void s1cf1(double *const arrays[], const struct kernel_size *size)
{
	const complex_pair *from = (const complex_pair *)arrays[0];
	complex_pair *to = (complex_pair *)arrays[1];

	for (size_t i = 0, n = n_complex(size); i < n; i++)
		to[i] = from[i];
}

/* S1CF, the second nest: out[column][plane][row] = tmp[plane][row][column], in the order of out */
static void s1cf2(double *const arrays[], const struct kernel_size *size)
{
	const complex_pair *from = (const complex_pair *)arrays[0];
	complex_pair *to = (complex_pair *)arrays[1];
	size_t plane_rows = size->planes * size->rows, columns = size->columns;

	for (size_t column = 0; column < columns; column++)
		for (size_t i = 0; i < plane_rows; i++)
			*to++ = from[i * columns + column];
}

/* S1CF combined: the same in the order of in */
static void s1cf(double *const arrays[], const struct kernel_size *size)
{
	const complex_pair *from = (const complex_pair *)arrays[0];
	complex_pair *to = (complex_pair *)arrays[1];
	size_t plane_rows = size->planes * size->rows, columns = size->columns;

	for (size_t i = 0; i < plane_rows; i++)
		for (size_t column = 0; column < columns; column++)
			to[column * plane_rows + i] = *from++;
}

/* S2CF: out[plane][x][y][row] = in[y][plane][x][row], with GRID_COLUMNS y */
static void s2cf(double *const arrays[], const struct kernel_size *size)
{
	const complex_pair *from = (const complex_pair *)arrays[0];
	complex_pair *to = (complex_pair *)arrays[1];
	size_t n_x = size->columns / GRID_COLUMNS, rows = size->rows;

	for (size_t plane = 0; plane < size->planes; plane++)
		for (size_t x = 0; x < n_x; x++)
			for (size_t y = 0; y < GRID_COLUMNS; y++) {
				size_t at = ((y * size->planes + plane) * n_x + x) * rows;

				for (size_t row = 0; row < rows; row++)
					*to++ = from[at + row];
			}
}

/* Each element is read and written once. */
static struct kernel_traffic predict_stream(
	const struct kernel *kernel, const struct kernel_size *size, uint64_t cache_bytes)
{
	double bytes = (double)(n_complex(size) * sizeof(complex_pair));

	(void)kernel;
	(void)cache_bytes;
	return (struct kernel_traffic){ .read = bytes, .allocated = bytes, .written = bytes };
}

/*
 * Between two elements of one line of tmp, PLANES x ROWS lines of tmp pass, and one line of out for
 * every four of them. If these do not fit into the cache, each element costs a line.
 */
static struct kernel_traffic predict_strided(
	const struct kernel *kernel, const struct kernel_size *size, uint64_t cache_bytes)
{
	struct kernel_traffic traffic = predict_stream(kernel, size, cache_bytes);
	double passing = (double)(size->planes * size->rows * (LINE_BYTES + sizeof(complex_pair)));

	if (passing > (double)cache_bytes)
		traffic.read *= LINE_BYTES / (double)sizeof(complex_pair);
	return traffic;
}

/* Between two elements of one line of out, COLUMNS lines of out pass. If these do not fit into the
 * cache, each element costs a line that is read and written. */
static struct kernel_traffic predict_scattered(
	const struct kernel *kernel, const struct kernel_size *size, uint64_t cache_bytes)
{
	struct kernel_traffic traffic = predict_stream(kernel, size, cache_bytes);
	double passing = (double)(size->columns * (LINE_BYTES + sizeof(complex_pair)));
	double lines =
		passing > (double)cache_bytes ? LINE_BYTES / (double)sizeof(complex_pair) : 1;

	/* The stores of a line are far apart, so no CPU evades its read. */
	traffic.read += traffic.allocated * lines;
	traffic.allocated = 0;
	traffic.written *= lines;
	return traffic;
}

#define RESORT(kernel, does, model)                                                                \
	.name = #kernel, .what = does, .measure = "N", .n_arrays = 2,                              \
	.choose = resort_choose_size, .elements = resort_elements, .run = kernel, .predict = model

const struct kernel resort_kernels[] = {
	{ RESORT(s1cf1, "re-sorting of a 3D FFT: S1CF, first nest", predict_stream) },
	{ RESORT(s1cf2, "... S1CF, second nest, strided loads", predict_strided) },
	{ RESORT(s1cf, "... S1CF, both nests in one, strided stores", predict_scattered) },
	{ RESORT(s2cf, "... S2CF, rows stay whole", predict_stream) },
	{},
};
