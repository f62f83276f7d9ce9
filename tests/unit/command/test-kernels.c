/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels compute what they say, within their arrays, and their predictions are those of the
 * models. */
#include <string.h>
#include <sys/mman.h>

#include "client/command/validate/kernels/kernel.h"
#include "common/macro.h"
#include "tests/harness/test.h"

enum { SMALL_CACHE = 16384, GUARD = 65536 };

/* --- arrays, each of which ends where memory that must not be touched begins --- */

struct arrays {
	unsigned n;
	size_t n_bytes[KERNEL_ARRAYS_MAX];
	double *array[KERNEL_ARRAYS_MAX];
};

/* The last bytes of a block may be left over. */
static size_t aligned(size_t bytes)
{
	return (bytes + KERNEL_ALIGNMENT - 1) / KERNEL_ALIGNMENT * KERNEL_ALIGNMENT;
}

static double *guarded(size_t bytes)
{
	size_t whole = (bytes + GUARD - 1) / GUARD * GUARD;
	char *memory = mmap(NULL, whole + GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_int_equal(mprotect(memory, whole, PROT_READ | PROT_WRITE), 0);
	return (double *)(memory + whole - aligned(bytes));
}

static struct arrays arrays_for(const struct kernel *kernel, const struct kernel_size *size)
{
	struct arrays arrays = { .n = kernel->n_arrays };

	for (unsigned i = 0; i < arrays.n; i++) {
		size_t n = kernel->elements(size, i);

		arrays.n_bytes[i] = n * sizeof(double);
		arrays.array[i] = guarded(arrays.n_bytes[i]);
		for (size_t k = 0; k < n; k++)
			arrays.array[i][k] = (double)(k + 1000 * i);
	}
	return arrays;
}

static void arrays_done(struct arrays *arrays)
{
	for (unsigned i = 0; i < arrays->n; i++) {
		size_t whole = (arrays->n_bytes[i] + GUARD - 1) / GUARD * GUARD;
		char *end = (char *)arrays->array[i] + aligned(arrays->n_bytes[i]);

		munmap(end - whole, whole + GUARD);
	}
}

static struct kernel_size size_of(const struct kernel *kernel, uint64_t number, uint64_t halo)
{
	const struct kernel_wish wish = { number, halo, SMALL_CACHE };
	struct kernel_size size = { 0 };

	kernel->choose(&wish, &size);
	return size;
}

static struct arrays run(const char *name, uint64_t number, struct kernel_size *ret)
{
	const struct kernel *kernel = kernel_find(name);
	struct arrays arrays;

	assert_non_null(kernel);
	*ret = size_of(kernel, number, 0);
	arrays = arrays_for(kernel, ret);
	kernel->run(arrays.array, ret);
	return arrays;
}

/* --- cases --- */

CASE("every kernel stays in its arrays")
{
	static const uint64_t numbers[] = { 0, 16, 100, 217 };
	const struct kernel *kernel;

	for (size_t i = 0; (kernel = kernel_nth(i)); i++)
		for (size_t k = 0; k < ARRAY_SIZE(numbers); k++) {
			struct kernel_size size = size_of(kernel, numbers[k], k);
			struct arrays arrays = arrays_for(kernel, &size);

			kernel->run(arrays.array, &size);
			arrays_done(&arrays);
		}
	assert_non_null(kernel_nth(19));
}

CASE("the default arrays are four times the cache")
{
	const struct kernel *kernel;

	for (size_t i = 0; (kernel = kernel_nth(i)); i++) {
		struct kernel_size size = size_of(kernel, 0, 0);
		size_t bytes = 0;

		for (unsigned k = 0; k < kernel->n_arrays; k++)
			bytes += kernel->elements(&size, k) * sizeof(double);
		if (bytes < 3.5 * SMALL_CACHE)
			fail_msg("%s has %zu bytes", kernel->name, bytes);
	}
}

CASE("a product of matrices is right")
{
	struct kernel_size size;
	struct arrays arrays = run("gemm", 16, &size);
	const double *a = arrays.array[0], *b = arrays.array[1], *c = arrays.array[2];
	double sum = 0;

	for (size_t k = 0; k < 16; k++)
		sum += a[3 * 16 + k] * b[k * 16 + 5];
	assert_true(c[3 * 16 + 5] == sum);
	arrays_done(&arrays);
}

CASE("re-sorting in two nests is re-sorting in one")
{
	struct kernel_size size;
	struct arrays two = run("s1cf2", 20, &size), one = run("s1cf", 20, &size);

	assert_memory_equal(two.array[1], one.array[1], one.n_bytes[1]);
	arrays_done(&one);
	arrays_done(&two);
}

CASE("fill clears the whole array")
{
	struct kernel_size size;
	struct arrays arrays = run("fill", 100, &size);

	for (size_t i = 0; i < size.n; i++)
		assert_true(arrays.array[0][i] == 0);
	arrays_done(&arrays);
}

static void predict(const char *name, uint64_t number, uint64_t halo, struct kernel_traffic *ret)
{
	const struct kernel *kernel = kernel_find(name);
	struct kernel_size size = size_of(kernel, number, halo);

	*ret = kernel->predict(kernel, &size, SMALL_CACHE);
}

CASE("streams move eight bytes for each element")
{
	struct kernel_traffic traffic;

	predict("triad", 3200, 0, &traffic);
	assert_true(traffic.read == 2 * 8 * 3200.0);
	assert_true(traffic.allocated == 8 * 3200.0);
	assert_true(traffic.written == 8 * 3200.0);
	predict("storent3", 3200, 0, &traffic);
	assert_true(traffic.read == 0 && traffic.allocated == 0);
	assert_true(traffic.written == 3 * 8 * 3200.0);
}

/* CloverLeaf paper, figures 8 and 10: with no gap, or a gap of a whole line, all lines are whole.
 */
CASE("a halo of a line breaks no line")
{
	static const struct {
		uint64_t columns, halo;
		double ratio; /* of reads to writes, if the CPU evades what it can */
	} rows[] = { { 216, 0, 1 }, { 216, 8, 1 }, { 216, 16, 1 }, { 1920, 8, 1 },
		{ 216, 4, 1.036 }, { 1920, 4, 1.004 } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct kernel_traffic traffic;

		predict("halocopy", rows[i].columns, rows[i].halo, &traffic);
		if (traffic.read / traffic.written > rows[i].ratio + 0.002 ||
			traffic.read / traffic.written < rows[i].ratio - 0.002)
			fail_msg("%d and %d: %f", (int)rows[i].columns, (int)rows[i].halo,
				traffic.read / traffic.written);
	}
}

/* B of gemm is read once while it fits into the cache, and for each row when it does not. */
CASE("a matrix that fits is read once")
{
	struct kernel_traffic fits, does_not;
	struct kernel_size size;

	predict("gemm", 44, 0, &fits);
	size = size_of(kernel_find("gemm"), 44, 0);
	assert_true(fits.read == 2 * 8.0 * 44 * 44 * (double)size.sets);
	predict("gemm", 46, 0, &does_not);
	assert_true(does_not.read / does_not.written == 47);
}
