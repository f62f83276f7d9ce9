/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels of known memory traffic: the source of a kernel determines what one pass reads and
 * writes, as long as its arrays are larger than the caches. A kernel runs in one thread, on arrays
 * of that thread alone. Several threads move several times as much.
 *
 * Sources of the kernels and their models: the CloverLeaf paper (store, storent, copy, halocopy,
 * stencil), the PAPI and PCP paper (gemm, gemv, the re-sorting of a 3D FFT).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KERNEL_ARRAYS_MAX = 16, KERNEL_ALIGNMENT = 256 /* bytes */ };

/* What a pass goes over; each kernel says which members it uses. */
struct kernel_size {
	size_t n;             /* elements of 8 bytes of a stream; stored rows of a matrix */
	size_t rows, columns; /* of a grid, a matrix, or a plane */
	size_t halo;          /* elements after each row that are left out */
	size_t planes;
	size_t sets; /* of arrays: a pass uses one after the other, so that each is cold */
};

/* What determines a size. */
struct kernel_wish {
	uint64_t number; /* the size that the user wants, in the kernel's measure; 0: default */
	uint64_t halo;   /* elements */
	uint64_t cache_bytes; /* all but the first level, as far as this thread may use them */
};

/* Bytes that one pass moves between the last cache and memory. */
struct kernel_traffic {
	double read;      /* on every CPU */
	double allocated; /* read before they are written, unless the CPU evades that */
	double written;
};

/* Elements that an iteration of a stream moves, as struct kernel_traffic has them. */
struct kernel_streams {
	unsigned read, allocated, written;
};

struct kernel {
	const char *name;
	const char *what;    /* for people: "sum of an array" */
	const char *measure; /* what kernel_wish.number means: "elements", "columns", "N" */
	bool is_judged;      /* no CPU moves more or less, so verdicts rest on it */
	unsigned n_arrays;
	struct kernel_streams streams; /* of kernels that consist of streams */
	void (*choose)(const struct kernel_wish *wish, struct kernel_size *ret);
	/* Elements of 8 bytes that @array has. */
	size_t (*elements)(const struct kernel_size *size, unsigned array);
	/* One pass; @arrays are aligned to KERNEL_ALIGNMENT. */
	void (*run)(double *const arrays[], const struct kernel_size *size);
	struct kernel_traffic (*predict)(
		const struct kernel *kernel, const struct kernel_size *size, uint64_t cache_bytes);
	const char *absent; /* why this CPU cannot run it; NULL: it can */
};

/* Most members of a row of a table, for a kernel whose functions begin with its name. */
#define KERNEL(kernel, does, size_is, arrays)                                                      \
	.name = #kernel, .what = does, .measure = size_is, .n_arrays = arrays,                     \
	.choose = kernel##_choose, .elements = kernel##_elements, .run = kernel,                   \
	.predict = kernel##_predict

/* How many parts of @elements each are together @caches times as large as the caches. */
static inline size_t kernel_parts(const struct kernel_wish *wish, unsigned caches, size_t elements)
{
	return (size_t)(caches * wish->cache_bytes / (elements * sizeof(double))) + 1;
}

/* The kernels of each file of this folder. A kernel without a name ends each group. */
extern const struct kernel stream_kernels[];
extern const struct kernel grid_kernels[];
extern const struct kernel matrix_kernels[];
extern const struct kernel resort_kernels[];

/* The kernels in the order in which people see them; NULL past the last. */
const struct kernel *kernel_nth(size_t i);

/* NULL: there is none of this name. */
const struct kernel *kernel_find(const char *name);

/* Results go here, so that no compiler removes a loop. Several threads may write it at once. */
extern volatile double kernel_sink;
