/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory traffic of each kernel of CloverLeaf, without a change to its sources: what is
 * compiled with -finstrument-functions calls the two functions below. At the end each process
 * writes a line for each kernel to the file that CLOVERLEAF_REPORT names, followed by a dot and its
 * number.
 *
 * A procedure of a Fortran module is __MODULE_MOD_PROCEDURE for the linker (gfortran), and its name
 * here is PROCEDURE. Counted is what ../runner/moved.h says.
 */
#include <dlfcn.h>
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/macro.h"
#include "tests/papers/runner/moved.h"

enum { KERNELS_MAX = 64, NAME_MAX = 64 };

struct kernel_sum {
	const void *function;
	char name[NAME_MAX]; /* "": no procedure of a module, and not counted */
	uint64_t n_calls;
	uint64_t bytes[TRAFFIC_KINDS];
};

static struct kernel_sum kernels[KERNELS_MAX];
static size_t n_kernels;
static struct moved moved; /* in the kernel that runs */

_public_ void __cyg_profile_func_enter(void *function, void *caller);
_public_ void __cyg_profile_func_exit(void *function, void *caller);

static void name_kernel(struct kernel_sum *kernel)
{
	Dl_info info;
	const char *name;

	if (!dladdr(kernel->function, &info) || info.dli_saddr != kernel->function)
		return;
	name = strstr(info.dli_sname, "_MOD_");
	if (name)
		snprintf(kernel->name, sizeof kernel->name, "%s", name + strlen("_MOD_"));
}

/* NULL: it is not counted. */
static struct kernel_sum *find_or_add(const void *function)
{
	size_t i = 0;

	while (i < n_kernels && kernels[i].function != function)
		i++;
	if (i == KERNELS_MAX)
		return NULL;
	if (i == n_kernels) {
		if (n_kernels++ == 0)
			moved_open();
		kernels[i].function = function;
		name_kernel(&kernels[i]);
	}
	return *kernels[i].name ? &kernels[i] : NULL;
}

void __cyg_profile_func_enter(void *function, void *caller)
{
	struct kernel_sum *kernel = find_or_add(function);

	(void)caller;
	if (!kernel)
		return;
	moved_begin(kernel->name);
	moved_read(&moved, MOVED_BEFORE);
}

void __cyg_profile_func_exit(void *function, void *caller)
{
	struct kernel_sum *kernel = find_or_add(function);

	(void)caller;
	if (!kernel)
		return;
	moved_read(&moved, MOVED_AFTER);
	moved_end(kernel->name);
	kernel->n_calls++;
	for (int kind = 0; kind < TRAFFIC_KINDS; kind++)
		kernel->bytes[kind] += moved_between(&moved, kind);
}

static __attribute__((destructor)) void report(void)
{
	const char *path = getenv("CLOVERLEAF_REPORT");
	_cleanup_free_ char *own = NULL;
	_cleanup_file_ FILE *file = NULL;

	if (!path || !n_kernels)
		return;
	if (asprintf(&own, "%s.%d", path, (int)getpid()) < 0 || !(file = fopen(own, "w"))) {
		warn("Cannot write the report on CloverLeaf's kernels to %s", path);
		return;
	}
	fprintf(file, "kernel,calls,read,write,itom,specitom\n");
	for (size_t i = 0; i < n_kernels; i++) {
		if (!*kernels[i].name)
			continue;
		fprintf(file, "%s,%" PRIu64, kernels[i].name, kernels[i].n_calls);
		for (int kind = 0; kind < TRAFFIC_KINDS; kind++)
			fprintf(file, ",%" PRIu64, kernels[i].bytes[kind]);
		fprintf(file, "\n");
	}
}
