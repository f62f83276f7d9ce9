/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products of matrices and vectors, as reference BLAS writes them. A pass goes over many sets of
 * matrices, one after the other, so that each set is cold: the cache then holds the results of
 * earlier sets.
 */

#include "client/command/validate/kernels/kernel.h"

enum {
	PASS_CACHES = 4, /* all sets together */
	GEMM_N = 64,
	GEMV_ROWS = 512,
	GEMV_COLUMNS_MAX = 1280, /* the PAPI paper caps the matrix there */
};

/* --- gemm: C = A B, N x N --- */

static void gemm_choose(const struct kernel_wish *wish, struct kernel_size *ret)
{
	ret->n = wish->number ? wish->number : GEMM_N;
	ret->sets = kernel_parts(wish, PASS_CACHES, 3 * ret->n * ret->n);
}

static size_t gemm_elements(const struct kernel_size *size, unsigned array)
{
	(void)array;
	return size->sets * size->n * size->n;
}

static void multiply(const double *a, const double *b, double *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			double sum = 0;

			for (size_t k = 0; k < n; k++)
				sum += a[i * n + k] * b[k * n + j];
			c[i * n + j] = sum;
		}
}

static void gemm(double *const arrays[], const struct kernel_size *size)
{
	size_t step = size->n * size->n;

	for (size_t set = 0; set < size->sets; set++)
		multiply(arrays[0] + set * step, arrays[1] + set * step, arrays[2] + set * step,
			size->n);
}

/* B is read for each row of A. Once B does not fit into the cache, each of these reads comes from
 * memory. */
static struct kernel_traffic gemm_predict(
	const struct kernel *kernel, const struct kernel_size *size, uint64_t cache_bytes)
{
	double n = (double)size->n, square = n * n * sizeof(double) * (double)size->sets;
	bool fits = n * n * sizeof(double) < (double)cache_bytes;

	(void)kernel;
	return (struct kernel_traffic){
		.read = fits ? 2 * square : square * (n + 1),
		.allocated = square,
		.written = square,
	};
}

/* --- gemv: y = A x, where A is stored as a square, and its rows are used in turns --- */

static void gemv_choose(const struct kernel_wish *wish, struct kernel_size *ret)
{
	ret->rows = wish->number ? wish->number : GEMV_ROWS;
	ret->columns = ret->rows < GEMV_COLUMNS_MAX ? ret->rows : GEMV_COLUMNS_MAX;
	ret->n = ret->columns;
	ret->sets =
		kernel_parts(wish, PASS_CACHES, ret->n * ret->columns + ret->columns + ret->rows);
}

static size_t gemv_elements(const struct kernel_size *size, unsigned array)
{
	const size_t each[] = { size->n * size->columns, size->columns, size->rows };

	return size->sets * each[array];
}

static void gemv(double *const arrays[], const struct kernel_size *size)
{
	size_t columns = size->columns;

	for (size_t set = 0; set < size->sets; set++) {
		const double *a = arrays[0] + set * size->n * size->columns;
		const double *x = arrays[1] + set * size->columns;
		double *y = arrays[2] + set * size->rows;

		for (size_t i = 0; i < size->rows; i++) {
			const double *row = a + i % size->n * size->columns;
			double sum = 0;

			for (size_t k = 0; k < columns; k++)
				sum += row[k] * x[k];
			y[i] = sum;
		}
	}
}

/* The rows of A that do not stay in the cache come from memory each time. */
static struct kernel_traffic gemv_predict(
	const struct kernel *kernel, const struct kernel_size *size, uint64_t cache_bytes)
{
	double sets = (double)size->sets * sizeof(double);
	double matrix = (double)(size->n * size->columns);
	bool fits = matrix * sizeof(double) < (double)cache_bytes;
	double rows = (double)(fits ? size->n : size->rows);

	(void)kernel;
	return (struct kernel_traffic){
		.read = sets * (rows * (double)size->columns + (double)size->columns),
		.allocated = sets * (double)size->rows,
		.written = sets * (double)size->rows,
	};
}

const struct kernel matrix_kernels[] = {
	{ KERNEL(gemm, "product of square matrices", "N", 3) },
	{ KERNEL(gemv, "capped matrix times vector", "M", 3) },
	{},
};
