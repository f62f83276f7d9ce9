/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/heap/real.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/number.h"

enum { MIN_BYTES = 64 << 10, EARLY_BYTES = 64 << 10, EARLY_ALIGNMENT = 16 };

static void first_free(void *memory);

struct heap_real heap_real = { .free = first_free };
unsigned char heap_filter[HEAP_FILTER_BYTES];
_Thread_local bool heap_is_busy;
pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER;

/* --- early memory --- */

static char early[EARLY_BYTES] __attribute__((aligned(4096)));
static size_t early_used; /* atomic */

/* The size of each block is before it. */
void *heap_early(size_t alignment, size_t size)
{
	const size_t step = alignment < EARLY_ALIGNMENT ? EARLY_ALIGNMENT : alignment;
	size_t used = __atomic_load_n(&early_used, __ATOMIC_RELAXED), at;

	do {
		at = (used + EARLY_ALIGNMENT + step - 1) & ~(step - 1);
		if (size > EARLY_BYTES || at > EARLY_BYTES - size)
			return NULL;
	} while (!__atomic_compare_exchange_n(
		&early_used, &used, at + size, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	memcpy(early + at - sizeof size, &size, sizeof size);
	return early + at;
}

bool heap_is_early(const void *memory)
{
	return (uintptr_t)memory - (uintptr_t)early < EARLY_BYTES;
}

size_t heap_early_size(const void *memory)
{
	size_t size;

	memcpy(&size, (const char *)memory - sizeof size, sizeof size);
	return size;
}

static void first_free(void *memory)
{
	if (memory && !heap_is_early(memory) && heap_is_ready())
		heap_real.free(memory);
}

/* --- the real functions --- */

void *heap_find(const char *name, const char *library)
{
	void *found = dlsym(RTLD_NEXT, name), *handle;

	if (found || !library)
		return found;
	handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
	found = handle ? dlsym(handle, name) : NULL;
	if (handle)
		dlclose(handle);
	return found;
}

static size_t min_bytes(void)
{
	const char *text = secure_getenv("UNCORE_HEAP_MIN");
	uint64_t number;

	return text && number_parse_whole(text, 10, SIZE_MAX, &number) && number ? number
										 : MIN_BYTES;
}

/* Frees of early memory take the long way, too. */
static void mark_early(void)
{
	for (size_t i = 0; i < EARLY_BYTES; i += 1 << HEAP_PAGE_SHIFT)
		*heap_filter_of(early + i) = UCHAR_MAX;
}

#define FIND(name) heap_real.name = (typeof(heap_real.name))dlsym(RTLD_NEXT, #name)

static void find_all(void)
{
	void *free = dlsym(RTLD_NEXT, "free"), *map = dlsym(RTLD_NEXT, "mmap64");

	FIND(malloc), FIND(calloc), FIND(realloc), FIND(aligned_alloc), FIND(memalign);
	FIND(posix_memalign), FIND(valloc), FIND(pvalloc), FIND(malloc_usable_size);
	FIND(munmap), FIND(mremap), FIND(dlclose);
	heap_real.mmap = (typeof(heap_real.mmap))(map ? map : dlsym(RTLD_NEXT, "mmap"));
	mark_early();
	__atomic_store_n(&heap_real.free, (typeof(heap_real.free))free, __ATOMIC_RELEASE);
}

bool heap_is_ready(void)
{
	static _Thread_local bool looks __attribute__((tls_model("initial-exec")));

	if (__atomic_load_n(&heap_real.min_bytes, __ATOMIC_ACQUIRE))
		return true;
	if (looks)
		return false;
	looks = true;
	find_all();
	__atomic_store_n(&heap_real.min_bytes, min_bytes(), __ATOMIC_RELEASE);
	looks = false;
	return true;
}
