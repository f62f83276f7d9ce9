/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that this module stands in front of, and what a thread needs before they are known:
 * dlsym(3) itself allocates. Until then .min_bytes is 0, so that the first call of a process takes
 * the long way, and all later ones pay one compare.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_real {
	size_t min_bytes; /* smaller allocations are not kept */
	void *(*malloc)(size_t size);
	void *(*calloc)(size_t n, size_t size);
	void *(*realloc)(void *memory, size_t size);
	void (*free)(void *memory);
	void *(*aligned_alloc)(size_t alignment, size_t size);
	void *(*memalign)(size_t alignment, size_t size);
	int (*posix_memalign)(void **ret, size_t alignment, size_t size);
	void *(*valloc)(size_t size);
	void *(*pvalloc)(size_t size);
	size_t (*malloc_usable_size)(void *memory);
	void *(*mmap)(
		void *address, size_t size, int protection, int flags, int fd, int64_t offset);
	int (*munmap)(void *address, size_t size);
	void *(*mremap)(void *address, size_t old, size_t size, int flags, ...);
	int (*dlclose)(void *handle);
};
extern struct heap_real heap_real;

/* Are they known? False in a thread that looks for them; it allocates early. */
bool heap_is_ready(void);

/* Finds a function of the libraries behind this one, or of @library, which may have been loaded
 * where only others see it; @library may be NULL. NULL: the process has none. */
void *heap_find(const char *name, const char *library);

/* The same, found once, as a pointer to a function of this @type. */
#define HEAP_REAL(type, name, library)                                                             \
	({                                                                                         \
		static type *known_; /* atomic */                                                  \
		type *found_ = __atomic_load_n(&known_, __ATOMIC_RELAXED);                         \
		if (!found_ && heap_is_ready())                                                    \
			found_ = (type *)heap_find(name, library);                                 \
		__atomic_store_n(&known_, found_, __ATOMIC_RELAXED);                               \
		found_;                                                                            \
	})

/* --- early memory: is never freed. NULL: there is none left. */
void *heap_early(size_t alignment, size_t size);
bool heap_is_early(const void *memory);
size_t heap_early_size(const void *memory);

/* --- which blocks may be kept, by the pages where they begin: small ones of a page share a byte,
 * and those of most programs stay in the first cache. A byte that is full stays so. */
enum { HEAP_FILTER_BYTES = 1 << 16, HEAP_PAGE_SHIFT = 12 };
extern unsigned char heap_filter[HEAP_FILTER_BYTES];

static inline unsigned char *heap_filter_of(const void *memory)
{
	return &heap_filter[(uintptr_t)memory >> HEAP_PAGE_SHIFT & (HEAP_FILTER_BYTES - 1)];
}

static inline bool heap_may_keep(const void *memory)
{
	return __builtin_expect(__atomic_load_n(heap_filter_of(memory), __ATOMIC_RELAXED), 0);
}

/*
 * Is this thread inside of the module, or of an allocator that it called for a large block? What
 * happens meanwhile is not kept: it belongs to that block, or to the module; or it is of a signal
 * handler, which must not wait for what its own thread holds.
 */
extern _Thread_local bool heap_is_busy __attribute__((tls_model("initial-exec")));

/* False: it was busy. */
static inline bool heap_enter(void)
{
	const bool was_busy = heap_is_busy;

	heap_is_busy = true;
	return !was_busy;
}

/* Held for all that is kept. No function of ld.so is called meanwhile: a thread inside of it may
 * allocate, and wait for this one. */
extern pthread_mutex_t heap_lock;
