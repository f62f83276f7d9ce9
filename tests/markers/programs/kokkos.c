/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads a tool and calls it as Kokkos does, on the simulated machine: as one since 3.7, or with any
 * argument as an older one.
 */
#include <dlfcn.h>
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/languages/programs/mover.h"

struct space {
	char name[64];
};

static void (*init_library)(int, uint64_t, uint32_t, void *);
static void (*finalize_library)(void);
static void (*push_region)(const char *);
static void (*pop_region)(void);
static void (*begin_kernel[3])(const char *, uint32_t, uint64_t *);
static void (*end_kernel[3])(uint64_t);
static void (*begin_fence)(const char *, uint32_t, uint64_t *);
static void (*end_fence)(uint64_t);
static void (*begin_copy)(struct space, const char *, const void *, struct space, const char *,
	const void *, uint64_t);
static void (*end_copy)(void);
static void (*create_section)(const char *, uint32_t *);
static void (*start_section)(uint32_t);
static void (*stop_section)(uint32_t);
static void (*destroy_section)(uint32_t);

static const struct {
	const char *name;
	void *function;
} FUNCTIONS[] = {
	{ "kokkosp_init_library", &init_library },
	{ "kokkosp_finalize_library", &finalize_library },
	{ "kokkosp_push_profile_region", &push_region },
	{ "kokkosp_pop_profile_region", &pop_region },
	{ "kokkosp_begin_parallel_for", &begin_kernel[0] },
	{ "kokkosp_end_parallel_for", &end_kernel[0] },
	{ "kokkosp_begin_parallel_reduce", &begin_kernel[1] },
	{ "kokkosp_end_parallel_reduce", &end_kernel[1] },
	{ "kokkosp_begin_parallel_scan", &begin_kernel[2] },
	{ "kokkosp_end_parallel_scan", &end_kernel[2] },
	{ "kokkosp_begin_fence", &begin_fence },
	{ "kokkosp_end_fence", &end_fence },
	{ "kokkosp_begin_deep_copy", &begin_copy },
	{ "kokkosp_end_deep_copy", &end_copy },
	{ "kokkosp_create_profile_section", &create_section },
	{ "kokkosp_start_profile_section", &start_section },
	{ "kokkosp_stop_profile_section", &stop_section },
	{ "kokkosp_destroy_profile_section", &destroy_section },
};
enum { N_FUNCTIONS = sizeof FUNCTIONS / sizeof *FUNCTIONS };

static void load(const char *path)
{
	void *tool = path ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;

	if (!tool)
		errx(1, "%s", path ? dlerror() : "no tool");
	for (int i = 0; i < N_FUNCTIONS; i++) {
		void *function = dlsym(tool, FUNCTIONS[i].name);

		if (!function)
			errx(1, "The tool has no %s", FUNCTIONS[i].name);
		memcpy(FUNCTIONS[i].function, &function, sizeof function);
	}
}

static void kernel(int kind, const char *name, uint64_t lines)
{
	uint64_t id = 0;

	begin_kernel[kind](name, 1, &id);
	mover_move(lines, 0, 0);
	end_kernel[kind](id);
}

static void fence(const char *name)
{
	uint64_t id = 0;

	begin_fence(name, 1, &id);
	mover_move(1, 0, 0);
	end_fence(id);
}

/* --- what programs do --- */

static void do_regions(void)
{
	push_region("outer");
	mover_move(1, 0, 0);
	push_region("inner");
	kernel(0, "fill", 2);
	kernel(1, "sum", 4);
	kernel(2, "prefix", 8);
	fence("wait");
	fence("Kokkos::Tools::invoke_kokkosp_callback: Kokkos Profile Tool Fence");
	pop_region();
	pop_region();
}

static void do_copy(void)
{
	struct space host = { "Host" };

	begin_copy(host, "to", NULL, host, "from", NULL, 2048);
	kernel(0, "copy", 32);
	end_copy();
}

static void do_names(void)
{
	static char same_start[2][101],
		names[6][16] = { "line\nfeed", "line\tfeed", "\xff\xfe", "\xff", "" };

	for (int i = 0; i < 2; i++) {
		memset(same_start[i], 'x', sizeof same_start[i] - 1);
		same_start[i][99] = (char)('a' + i);
		kernel(0, same_start[i], 1);
	}
	for (int i = 0; i < 5; i++)
		kernel(0, names[i], 1);
}

static void *stop_other(void *section)
{
	stop_section(*(uint32_t *)section);
	return NULL;
}

/* Two sections of one name overlap; one stops in another thread; one is destroyed while it runs. */
static void do_sections(void)
{
	uint32_t a, b, c, reused;
	pthread_t thread;

	create_section("section", &a);
	create_section("section", &b);
	create_section("destroyed", &c);
	start_section(a);
	mover_move(1, 0, 0);
	start_section(b);
	start_section(b);
	mover_move(2, 0, 0);
	pthread_create(&thread, NULL, stop_other, &a);
	pthread_join(thread, NULL);
	mover_move(4, 0, 0);
	stop_section(b);
	stop_section(b);
	mover_move(8, 0, 0);
	start_section(c);
	mover_move(16, 0, 0);
	destroy_section(c);
	destroy_section(b);
	create_section("other", &reused);
	start_section(reused);
	mover_move(32, 0, 0);
	stop_section(reused);
	start_section(12345);
	stop_section(12345);
}

static void *launch(void *unused)
{
	push_region("thread");
	for (int i = 0; i < 100; i++)
		kernel(0, "threaded", 1);
	pop_region();
	return unused;
}

static void do_threads(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, launch, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

/* Deeper than a thread's regions may nest, and ended where nothing is open. */
static void do_depth(void)
{
	push_region("top");
	for (int i = 0; i < 40; i++)
		push_region("deep");
	mover_move(1, 0, 0);
	for (int i = 0; i < 40; i++)
		pop_region();
	mover_move(2, 0, 0);
	pop_region();
	pop_region();
	push_region("after");
	mover_move(4, 0, 0);
	pop_region();
}

int main(int argc, char **argv)
{
	(void)argv;
	load(getenv(argc > 1 ? "KOKKOS_PROFILE_LIBRARY" : "KOKKOS_TOOLS_LIBS"));
	init_library(0, 20240906, 0, NULL);
	do_regions();
	do_copy();
	do_names();
	do_sections();
	do_threads();
	do_depth();
	finalize_library();
	puts("done");
	return 0;
}
