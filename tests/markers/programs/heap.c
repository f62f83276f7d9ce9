/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocates what it knows: a case for each name of its arguments. A mebibyte is M. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <err.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "mover.h"

#define M ((size_t)1 << 20)

char large_one[3 * M + 5];   /* in .bss */
int filled[1 << 18] = { 1 }; /* in .data */
static void *volatile kept[64];

__attribute__((noinline)) static void *from_one(size_t size)
{
	void *memory = malloc(size);

	__asm__("" : "+r"(memory));
	return memory;
}

/* "before" lives on in "work", where more comes and goes; "late" has only the rest. */
static void regions(void)
{
	kept[0] = from_one(4 * M);
	uncore_region_begin("work");
	mover_move(1000, 0, 0);
	for (int i = 0; i < 3; i++) {
		kept[1] = calloc(2, M);
		kept[2] = calloc(1, M);
		free(kept[1]);
		free(kept[2]);
	}
	uncore_region_next("work", "late");
	mover_move(500, 0, 0);
	free(kept[0]);
	kept[0] = NULL;
	uncore_region_end("late");
	uncore_region_begin("last");
	uncore_region_end("last");
	kept[3] = from_one(8 * M);
}

static void span(void)
{
	uint64_t number;

	uncore_span_begin("message", &number);
	kept[0] = from_one(M);
	uncore_span_end(number);
	kept[1] = from_one(M);
}

static void sizes(void)
{
	kept[0] = realloc(NULL, M);
	kept[0] = realloc(kept[0], 8 * M);
	kept[0] = realloc(kept[0], 3 * M);
	kept[1] = realloc(NULL, M);
	kept[1] = realloc(kept[1], 10); /* is small now */
	kept[2] = reallocarray(NULL, 5, M);
	if (reallocarray(kept[2], SIZE_MAX / 2, 4) || realloc(kept[2], SIZE_MAX / 2))
		errx(1, "more than there is");
	if (malloc_usable_size(kept[2]) < 5 * M)
		errx(1, "less than there is");
	kept[3] = realloc(malloc(100), 2 * M);
	free(realloc(NULL, 64)), free(NULL);
}

static void aligned(void)
{
	void *memory = NULL;

	kept[0] = aligned_alloc(4096, M);
	kept[1] = memalign(64, M);
	kept[2] = valloc(M);
	kept[3] = pvalloc(M);
	if (posix_memalign(&memory, 256, M) || (uintptr_t)memory % 256)
		errx(1, "posix_memalign");
	kept[4] = memory;
	if (posix_memalign(&memory, 3, M) == 0)
		errx(1, "an alignment of 3");
}

/* Live at the end: 1 + 1 of the first with a hole, 6 that were 2, 1 in place of another one. */
static void maps(void)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	char *first = mmap(NULL, 4 * M, PROT_READ | PROT_WRITE, flags, -1, 0);
	char *second = mmap(NULL, 2 * M, PROT_READ | PROT_WRITE, flags, -1, 0);
	char *third = mmap(NULL, M, PROT_READ | PROT_WRITE, flags, -1, 0);

	munmap(first + M, M), munmap(first + M, 2 * M);
	second = mremap(second, 2 * M, 6 * M, MREMAP_MAYMOVE);
	mmap(third, M, PROT_READ, flags | MAP_FIXED, -1, 0);
	mmap(NULL, 64 * M, PROT_NONE, flags | MAP_NORESERVE, -1, 0);
	if (second == MAP_FAILED || munmap(third + 1, M) == 0 ||
		mremap(third, M, SIZE_MAX / 2, 0) != MAP_FAILED)
		errx(1, "maps");
}

enum { THREADS = 4, ROUNDS = 4000 };
static void *_Atomic boxes[THREADS];

/* Blocks are freed by any thread. */
static void *hammer(void *argument)
{
	unsigned state = (unsigned)(uintptr_t)argument;

	for (int i = 0; i < ROUNDS; i++) {
		const size_t size = (size_t)rand_r(&state) % (256 << 10) + 1;
		char *memory = i % 3 ? malloc(size) : calloc(size, 1);

		memory[size - 1] = 1;
		if (i % 5 == 0)
			memory = realloc(memory, size * 2);
		free(__atomic_exchange_n(
			&boxes[(unsigned)rand_r(&state) % THREADS], memory, __ATOMIC_ACQ_REL));
		if (i % 64 == 0) {
			uncore_region_begin("hammer");
			uncore_region_end("hammer");
		}
	}
	return NULL;
}

static void threads(void)
{
	pthread_t all[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&all[i], NULL, hammer, (void *)(i + 1));
	for (int i = 0; i < THREADS; i++)
		pthread_join(all[i], NULL);
	for (int i = 0; i < THREADS; i++)
		free(boxes[i]);
}

static void forks(void)
{
	pid_t pid;
	int status;

	kept[0] = from_one(2 * M);
	uncore_region_begin("parents");
	pid = fork();
	if (pid == 0) {
		uncore_region_end("parents");
		free(kept[0]);
		uncore_region_begin("childs");
		kept[1] = from_one(5 * M);
		uncore_region_end("childs");
		exit(0);
	}
	if (waitpid(pid, &status, 0) < 0 || status)
		errx(1, "the child failed");
	uncore_region_end("parents");
}

/* What this module never saw, or saw only the end of. */
static void foreign(void)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	void *(*other)(size_t) = (void *(*)(size_t))dlsym(libc, "malloc");
	void (*other_free)(void *) = (void (*)(void *))dlsym(libc, "free");

	kept[0] = other(4 * M);
	kept[0] = realloc(kept[0], 6 * M);
	free(kept[0]);
	kept[0] = other(4 * M);
	free(kept[0]);
	kept[1] = from_one(7 * M);
	other_free(kept[1]);
	kept[1] = from_one(7 * M); /* where the other one was */
}

static void plugins(void)
{
	for (int i = 0; i < 2; i++) {
		void *library =
			dlopen(i ? "./plugin-b.so" : "./plugin-a.so", RTLD_NOW | RTLD_LOCAL);
		void *(*allocate)(void) =
			library ? (void *(*)(void))dlsym(library, "allocate") : NULL;

		if (!allocate)
			errx(1, "%s", dlerror());
		printf("%p\n", (void *)allocate);
		kept[i] = allocate();
		dlclose(library);
	}
}

static void memkind(void)
{
	void *(*hbw_malloc)(size_t) = (void *(*)(size_t))dlsym(RTLD_DEFAULT, "hbw_malloc");
	void (*hbw_free)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "hbw_free");
	void *(*of_kind)(void *, size_t) =
		(void *(*)(void *, size_t))dlsym(RTLD_DEFAULT, "memkind_malloc");
	void (*free_kind)(void *, void *) =
		(void (*)(void *, void *))dlsym(RTLD_DEFAULT, "memkind_free");
	int (*align)(void **, size_t, size_t) =
		(int (*)(void **, size_t, size_t))dlsym(RTLD_DEFAULT, "hbw_posix_memalign");
	void *memory;

	hbw_free(hbw_malloc(M));
	kept[0] = hbw_malloc(2 * M);
	free_kind(NULL, of_kind(NULL, 4 * M));
	kept[1] = of_kind(NULL, 3 * M);
	hbw_malloc(100);
	if (align(&memory, 64, M))
		errx(1, "hbw_posix_memalign");
}

/* As many as the kernel lets be: the table grows, and is exact. */
static void many(void)
{
	enum { BLOCKS = 20000 };
	static void *all[BLOCKS];

	for (int i = 0; i < BLOCKS; i++)
		all[i] = from_one(64 << 10);
	for (int i = 0; i < BLOCKS; i += 2)
		free(all[i]);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = { { "regions", regions }, { "span", span }, { "sizes", sizes },
		{ "aligned", aligned }, { "maps", maps }, { "threads", threads },
		{ "forks", forks }, { "foreign", foreign }, { "plugins", plugins },
		{ "memkind", memkind }, { "many", many } };

	for (int i = 1; i < argc; i++)
		for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
			if (strcmp(argv[i], cases[k].name) == 0)
				cases[k].run();
	puts("done");
	return large_one[0] + filled[1];
}
