/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What libuncore-heap.so costs. Each row is a program that allocates and frees; it runs with the
 * module and without, in turns, and the median of the ratios of pairs is printed. Times are the CPU
 * time of the process, since others use the CPUs, too.
 *
 *     uncore-bench-heap [PAIRS]
 */
#include <err.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness/program.h"

enum { PAIRS = 15, PAIRS_MAX = 1000, PAGE = 4096 };

static const struct row {
	const char *what;
	size_t size;
	long n;
	int touches; /* each page */
} rows[] = {
	{ "1e7 malloc() and free() of 64 B", 64, 10000000, 0 },
	{ "1e4 of 1 MB, which nobody touches", 1 << 20, 10000, 0 },
	{ "1e4 of 1 MB, each page of which is touched", 1 << 20, 10000, 1 },
	{ "2e4 of 64 MB, each of which is a mapping", 64 << 20, 20000, 0 },
};

/* --- the program --- */

static void *volatile kept;

static double now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Prints ns per pair of calls. */
static int be_program(const struct row *row)
{
	const double begin_ns = now_ns();

	for (long i = 0; i < row->n; i++) {
		volatile char *memory = kept = malloc(row->size);

		for (size_t at = 0; row->touches && at < row->size; at += PAGE)
			memory[at] = 1;
		free(kept);
	}
	printf("%.3f\n", (now_ns() - begin_ns) / (double)row->n);
	return 0;
}

/* --- pairs --- */

static double run(const char *self, size_t row, const char *module)
{
	char command[2 * PATH_MAX];
	double ns = 0;
	FILE *in;

	snprintf(command, sizeof command, "UNCORE_HEAP=/dev/null LD_PRELOAD=%s %s row %zu", module,
		self, row);
	in = popen(command, "r");
	if (!in || fscanf(in, "%lf", &ns) != 1 || pclose(in))
		errx(1, "%s failed", command);
	return ns;
}

static void measure(const char *self, const char *module, size_t row, unsigned n)
{
	static double with[PAIRS_MAX], without[PAIRS_MAX], ratios[PAIRS_MAX];

	for (unsigned i = 0; i < n; i++) {
		const unsigned is_first = i % 2;

		for (unsigned k = 0; k < 2; k++)
			if (k == is_first)
				with[i] = run(self, row, module);
			else
				without[i] = run(self, row, "");
		ratios[i] = with[i] / without[i];
	}
	printf("%-45s without %9.1f ns, with %9.1f ns, ratio of pairs %.3f\n", rows[row].what,
		quantile(without, n, 0.5), quantile(with, n, 0.5), quantile(ratios, n, 0.5));
}

int main(int argc, char **argv)
{
	char self[PATH_MAX], module[PATH_MAX + 64];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	const unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : PAIRS;

	if (argc == 3 && strcmp(argv[1], "row") == 0)
		return be_program(&rows[(size_t)atoi(argv[2]) % (sizeof rows / sizeof *rows)]);
	if (length < 0 || n < 1 || n > PAIRS_MAX)
		errx(2, "usage: uncore-bench-heap [PAIRS]");
	self[length] = '\0';
	snprintf(module, sizeof module, "%s/client/heap/libuncore-heap.so",
		getenv("UNCORE_BUILD_ROOT") ? getenv("UNCORE_BUILD_ROOT") : ".");
	if (access(module, R_OK) < 0)
		err(1, "%s", module);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		measure(self, module, i, n);
	return 0;
}
