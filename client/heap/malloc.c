/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of malloc(3) and posix_memalign(3). What C++ and Fortran allocate comes this way,
 * too: operator new and ALLOCATE call malloc(3). A small block costs one compare; its free() looks
 * at one byte.
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "client/heap/account.h"
#include "client/heap/kept.h"
#include "common/macro.h"

#define IS_SMALL(size) __builtin_expect((size) < heap_real.min_bytes, 1)

/* The long ways are functions of their own: the short ones shall have no frame. */
#define _long_ static __attribute__((noinline))

_long_ void *long_malloc(size_t size, const void *caller)
{
	if (!heap_is_ready())
		return heap_early(0, size);
	return HEAP_KEPT("malloc", size, caller, heap_real.malloc(size));
}

_public_ void *malloc(size_t size)
{
	return IS_SMALL(size) ? heap_real.malloc(size)
			      : long_malloc(size, __builtin_return_address(0));
}

/* Early memory is 0 as it comes. */
_long_ void *long_calloc(size_t n, size_t size, const void *caller)
{
	if (!heap_is_ready())
		return heap_early(0, n * size);
	return HEAP_KEPT("calloc", n * size, caller, heap_real.calloc(n, size));
}

_public_ void *calloc(size_t n, size_t size)
{
	size_t bytes;
	const bool is_small = !__builtin_mul_overflow(n, size, &bytes) && IS_SMALL(bytes);

	return is_small ? heap_real.calloc(n, size)
			: long_calloc(n, size, __builtin_return_address(0));
}

_long_ void long_free(void *memory)
{
	struct heap_block block;

	if (heap_is_early(memory))
		return;
	if (heap_enter()) {
		heap_drop(memory, &block);
		heap_is_busy = false;
	}
	heap_real.free(memory);
}

_public_ void free(void *memory)
{
	if (heap_may_keep(memory))
		long_free(memory);
	else
		heap_real.free(memory);
}

static void *grow_early(void *memory, size_t size, const void *caller)
{
	const size_t old = memory ? heap_early_size(memory) : 0;
	void *new = long_malloc(size, caller);

	if (new &&old)
		memcpy(new, memory, old < size ? old : size);
	return new;
}

/* The block is not kept meanwhile: once it is free, others may get its address. */
_long_ void *long_realloc(const char *kind, void *memory, size_t size, const void *caller)
{
	struct heap_block old = { .at = 0 };
	bool is_first;
	void *new;

	if (!heap_is_ready() || heap_is_early(memory))
		return grow_early(memory, size, caller);
	is_first = heap_enter();
	if (is_first && memory)
		heap_drop(memory, &old);
	new = heap_real.realloc(memory, size);
	if (is_first && !new &&size && old.at)
		heap_put_back(&old);
	return heap_keep(is_first, kind, new, size, caller);
}

_public_ void *realloc(void *memory, size_t size)
{
	if (IS_SMALL(size) && !heap_may_keep(memory))
		return heap_real.realloc(memory, size);
	return long_realloc("realloc", memory, size, __builtin_return_address(0));
}

_public_ void *reallocarray(void *memory, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return long_realloc("reallocarray", memory, bytes, __builtin_return_address(0));
}

_public_ void *aligned_alloc(size_t alignment, size_t size)
{
	if (!heap_is_ready())
		return heap_early(alignment, size);
	return HEAP_KEPT("aligned_alloc", size, __builtin_return_address(0),
		heap_real.aligned_alloc(alignment, size));
}

_public_ void *memalign(size_t alignment, size_t size)
{
	if (!heap_is_ready())
		return heap_early(alignment, size);
	return HEAP_KEPT(
		"memalign", size, __builtin_return_address(0), heap_real.memalign(alignment, size));
}

/* The standard leaves *@ret open after an error. */
_public_ int posix_memalign(void **ret, size_t alignment, size_t size)
{
	int r = 0;

	if (!heap_is_ready())
		return (*ret = heap_early(alignment, size)) ? 0 : ENOMEM;
	HEAP_KEPT("posix_memalign", size, __builtin_return_address(0),
		(r = heap_real.posix_memalign(ret, alignment, size)) == 0 ? *ret : NULL);
	return r;
}

_public_ void *valloc(size_t size)
{
	if (!heap_is_ready())
		return heap_early(4096, size);
	return HEAP_KEPT("valloc", size, __builtin_return_address(0), heap_real.valloc(size));
}

void *pvalloc(size_t size); /* not musl's */
_public_ void *pvalloc(size_t size)
{
	if (!heap_is_ready())
		return heap_early(4096, (size + 4095) & ~(size_t)4095);
	return HEAP_KEPT("pvalloc", size, __builtin_return_address(0), heap_real.pvalloc(size));
}

_public_ size_t malloc_usable_size(void *memory)
{
	if (heap_is_early(memory))
		return heap_early_size(memory);
	return heap_is_ready() ? heap_real.malloc_usable_size(memory) : 0;
}

/* Code that is unloaded takes its addresses with it. */
int dlclose(void *handle);
_public_ int dlclose(void *handle)
{
	int r;

	if (!heap_is_ready())
		return 0;
	r = heap_real.dlclose(handle);
	if (heap_enter()) {
		heap_places_forget_addresses();
		heap_is_busy = false;
	}
	return r;
}
