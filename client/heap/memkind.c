/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memkind(3) and hbwmalloc(3), where the process has libmemkind. What these allocate inside, by
 * each other or by mmap(2), belongs to the call. If there is no libmemkind, nobody calls them; who
 * does so anyway gets ENOSYS.
 */
#include <errno.h>

#include "client/heap/kept.h"
#include "common/macro.h"

#define REAL(name, type) HEAP_REAL(type, name, "libmemkind.so.0")

static void *lacking(void)
{
	errno = ENOSYS;
	return NULL;
}

/* A function that allocates. */
#define ALLOCATES(name, size, parameters, arguments)                                               \
	void *name parameters;                                                                     \
	_public_ void *name parameters                                                             \
	{                                                                                          \
		typedef void *function parameters;                                                 \
		function *real = REAL(#name, function);                                            \
		return real ? HEAP_KEPT(#name, size, __builtin_return_address(0), real arguments)  \
			    : lacking();                                                           \
	}

/* The parameters are memkind's: a kind is a pointer. */
ALLOCATES(hbw_malloc, size, (size_t size), (size))
ALLOCATES(hbw_calloc, n *size, (size_t n, size_t size), (n, size))
ALLOCATES(memkind_malloc, size, (void *kind, size_t size), (kind, size))
ALLOCATES(memkind_calloc, n *size, (void *kind, size_t n, size_t size), (kind, n, size))

/* ... and writes where. */
#define ALIGNS(name, parameters, arguments)                                                        \
	int name parameters;                                                                       \
	_public_ int name parameters                                                               \
	{                                                                                          \
		typedef int function parameters;                                                   \
		function *real = REAL(#name, function);                                            \
		int r = ENOSYS;                                                                    \
		if (real)                                                                          \
			HEAP_KEPT(#name, size, __builtin_return_address(0),                        \
				(r = real arguments) == 0 ? *ret : NULL);                          \
		return r;                                                                          \
	}

ALIGNS(hbw_posix_memalign, (void **ret, size_t alignment, size_t size), (ret, alignment, size))
ALIGNS(memkind_posix_memalign, (void *kind, void **ret, size_t alignment, size_t size),
	(kind, ret, alignment, size))

/* Begins a call that frees or moves @memory. */
static bool memkind_begin(void *memory, struct heap_block *ret_old)
{
	const bool is_first = heap_enter();

	ret_old->at = 0;
	if (is_first && heap_may_keep(memory))
		heap_drop(memory, ret_old);
	return is_first;
}

#define MOVES(name, parameters, arguments)                                                         \
	void *name parameters;                                                                     \
	_public_ void *name parameters                                                             \
	{                                                                                          \
		typedef void *function parameters;                                                 \
		function *real = REAL(#name, function);                                            \
		struct heap_block old;                                                             \
		if (!real)                                                                         \
			return lacking();                                                          \
		const bool is_first = memkind_begin(memory, &old);                                 \
		void *new = real arguments;                                                        \
		if (!new &&size && old.at)                                                         \
			heap_put_back(&old);                                                       \
		return heap_keep(is_first, #name, new, size, __builtin_return_address(0));         \
	}

MOVES(hbw_realloc, (void *memory, size_t size), (memory, size))
MOVES(memkind_realloc, (void *kind, void *memory, size_t size), (kind, memory, size))

#define FREES(name, parameters, arguments)                                                         \
	void name parameters;                                                                      \
	_public_ void name parameters                                                              \
	{                                                                                          \
		typedef void function parameters;                                                  \
		function *real = REAL(#name, function);                                            \
		struct heap_block old;                                                             \
		const bool is_first = memkind_begin(memory, &old);                                 \
		if (real)                                                                          \
			real arguments;                                                            \
		if (is_first)                                                                      \
			heap_is_busy = false;                                                      \
	}

FREES(hbw_free, (void *memory), (memory))
FREES(memkind_free, (void *kind, void *memory), (kind, memory))
