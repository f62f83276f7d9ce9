/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run-kernel: runs kernels of known memory traffic between two readings of the counters, and prints
 * what they moved beside what their models say. The experiments of the papers are made of it.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"
#include "tests/papers/runner/moved.h"
#include "tests/papers/runner/options.h"
#include "tests/papers/runner/ranks.h"

enum { KERNELS_MAX = 128 };

static const struct kernel *find(const char *name)
{
	const struct loop *loop = loop_find(name);
	const struct kernel *kernel = loop ? &loop->kernel : kernel_find(name);

	if (!kernel)
		errx(2, "There is no kernel '%s'; run-kernel --list shows them.", name);
	if (kernel->absent)
		errx(2, "Kernel %s cannot run here: %s", name, kernel->absent);
	return kernel;
}

/* --- what there is --- */

static void list_one(const struct kernel *kernel, unsigned broken)
{
	printf("%s,%u,%u,%u,%u,%u,%s,%s\n", kernel->name, kernel->n_arrays, kernel->streams.read,
		broken, kernel->streams.allocated, kernel->streams.written, kernel->measure,
		kernel->what);
}

static void list_all(void)
{
	puts("kernel,arrays,read,read_broken,allocated,written,measure,what");
	for (size_t i = 0; loop_nth(i); i++)
		list_one(&loop_nth(i)->kernel, loop_nth(i)->broken);
	for (size_t i = 0; kernel_nth(i); i++)
		list_one(kernel_nth(i), kernel_nth(i)->streams.read);
}

/* --- models --- */

static struct step step_of(const struct options *options, const struct kernel *kernel)
{
	return (struct step){
		.kernel = kernel,
		.loop = loop_find(kernel->name),
		.from_row = options->skip_rows,
		.n_rows = ranks_size(options, kernel, 0).rows - options->skip_rows,
		.n_passes = options->n_passes,
	};
}

/* What all ranks move in @step. */
static struct kernel_traffic predict(const struct options *options, const struct step *step)
{
	struct kernel_traffic sum = {}, one;

	for (size_t rank = 0; rank < options->n_ranks; rank++) {
		struct kernel_size size = ranks_size(options, step->kernel, rank);

		size.rows = step->loop ? step->n_rows : size.rows;
		one = step->kernel->predict(step->kernel, &size, options->cache_bytes);
		sum.read += one.read * (double)step->n_passes;
		sum.allocated += one.allocated * (double)step->n_passes;
		sum.written += one.written * (double)step->n_passes;
	}
	return sum;
}

static void print_head(void)
{
	puts("kernel,model_read,model_allocated,model_written,read,write,itom,specitom");
}

static void print_model(const struct options *options, const struct step *step)
{
	struct kernel_traffic model = predict(options, step);

	printf("%s,%.0f,%.0f,%.0f", step->kernel->name, model.read, model.allocated, model.written);
}

/* --- measurements --- */

/* Leaves in the caches what the kernel itself leaves there, or nothing that is dirty, or nothing
 * else. The first flush throws out what was dirty before it, and that includes its own memory. */
static void prepare(struct ranks *ranks, const struct options *options, const struct step *counted)
{
	struct step step = *counted;

	if (options->flush_bytes)
		step.deed = DEED_READ;
	else if (options->dirty_bytes)
		step.deed = DEED_WRITE;
	step.from_row = 0;
	step.n_rows = options->skip_rows ? options->skip_rows : counted->n_rows;
	step.n_passes = 1;
	ranks_do(ranks, &step);
	if (options->flush_bytes)
		ranks_do(ranks, &step);
}

/* This thread does nothing between the readings that would bring its own lines into the caches.
 * What a flush throws out was written before it. */
static void measure(struct ranks *ranks, const struct options *options, const struct step *step)
{
	const struct step flush = { .deed = DEED_READ };
	static struct moved moved, written;

	prepare(ranks, options, step);
	moved_begin(step->kernel->name);
	moved_read(&written, MOVED_BEFORE);
	moved_read(&moved, MOVED_BEFORE);
	ranks_do(ranks, step);
	moved_read(&moved, MOVED_AFTER);
	moved_end(step->kernel->name);
	if (options->flush_bytes)
		ranks_do(ranks, &flush);
	moved_read(&written, MOVED_AFTER);
	print_model(options, step);
	for (int kind = 0; kind < TRAFFIC_KINDS; kind++)
		printf(",%" PRIu64, moved_between(kind == TRAFFIC_WRITE ? &written : &moved, kind));
	puts("");
	fflush(stdout);
}

/* --- what is asked for --- */

/* Rows are skipped in grids only, and some must remain. */
static void check_skip(const struct options *options, const struct kernel *kernel)
{
	if (!options->skip_rows)
		return;
	if (!loop_find(kernel->name))
		errx(2, "--skip is for loops of the CloverLeaf paper; %s is none.", kernel->name);
	if (ranks_size(options, kernel, 0).rows <= options->skip_rows)
		errx(2, "--skip leaves no row of %s to count.", kernel->name);
}

/* Writes up to NULL. */
static void find_all(const struct options *options, const struct kernel *ret[KERNELS_MAX + 1])
{
	size_t n = 0;

	for (; options->names[n]; n++) {
		if (n == KERNELS_MAX)
			errx(2, "run-kernel runs at most %d kernels.", KERNELS_MAX);
		ret[n] = find(options->names[n]);
		check_skip(options, ret[n]);
	}
	ret[n] = NULL;
}

static void predict_all(const struct options *options, const struct kernel *const kernels[])
{
	for (size_t i = 0; kernels[i]; i++) {
		struct step step = step_of(options, kernels[i]);

		print_model(options, &step);
		puts(",,,,");
	}
}

static void measure_all(const struct options *options, const struct kernel *const kernels[])
{
	struct ranks *ranks;

	moved_open();
	ranks = ranks_start(options, kernels);
	for (size_t i = 0; kernels[i]; i++) {
		struct step step = step_of(options, kernels[i]);

		measure(ranks, options, &step);
	}
	ranks_done(ranks);
}

int main(int argc, char *argv[])
{
	const struct kernel *kernels[KERNELS_MAX + 1];
	struct options options;

	options_read(argc, argv, &options);
	if (options.list) {
		list_all();
		return EXIT_SUCCESS;
	}
	find_all(&options, kernels);
	print_head();
	if (options.predict)
		predict_all(&options, kernels);
	else
		measure_all(&options, kernels);
	return EXIT_SUCCESS;
}
