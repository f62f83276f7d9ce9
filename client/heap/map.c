/* SPDX-License-Identifier: BSD-3-Clause */
/* mmap(2) and its kin. The C library's own mappings, such as those of malloc(3), do not come this
 * way. What nobody may read or write yet is not an array. */
#undef _FILE_OFFSET_BITS /* it would make mmap() another name of mmap64() */
#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client/heap/account.h"
#include "common/macro.h"

static size_t whole_pages(size_t size)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (size + page - 1) & ~(page - 1);
}

/* Is it kept no longer? The kernel refuses an address within a page. */
static bool heap_drop_mapping(const void *address, size_t size, uint32_t *ret_place)
{
	return (uintptr_t)address == whole_pages((uintptr_t)address) &&
	       heap_map_drop(address, whole_pages(size), ret_place);
}

struct request {
	void *address;
	size_t size;
	int protection, flags, fd;
	int64_t offset;
};

static void *heap_map(const struct request *request, const void *caller)
{
	const size_t size = request->size;
	bool is_first;
	void *memory;

	if (!heap_is_ready()) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	is_first = heap_enter();
	memory = heap_real.mmap(request->address, size, request->protection, request->flags,
		request->fd, request->offset);
	if (is_first && memory != MAP_FAILED && request->flags & MAP_FIXED)
		heap_map_drop(memory, whole_pages(size), NULL);
	if (is_first && memory != MAP_FAILED && size >= heap_real.min_bytes &&
		request->protection != PROT_NONE)
		heap_map_add("mmap", memory, whole_pages(size), caller);
	if (is_first)
		heap_is_busy = false;
	return memory;
}

_public_ void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	return heap_map(&(struct request){ address, size, protection, flags, fd, offset },
		__builtin_return_address(0));
}

#ifdef __GLIBC__
_public_ void *mmap64(void *address, size_t size, int protection, int flags, int fd, off64_t offset)
{
	return heap_map(&(struct request){ address, size, protection, flags, fd, offset },
		__builtin_return_address(0));
}
#endif

/* Not kept meanwhile: once it is unmapped, others may get its addresses. */
_public_ int munmap(void *address, size_t size)
{
	uint32_t place;
	bool is_first, was_kept = false;
	int r;

	if (!heap_is_ready())
		return 0;
	is_first = heap_enter();
	if (is_first)
		was_kept = heap_drop_mapping(address, size, &place);
	r = heap_real.munmap(address, size);
	if (r < 0 && was_kept)
		heap_map_put_back(address, whole_pages(size), place);
	if (is_first)
		heap_is_busy = false;
	return r;
}

_public_ void *mremap(void *address, size_t old, size_t size, int flags, ...)
{
	bool is_first, was_kept = false;
	uint32_t place;
	void *memory, *to = NULL;
	va_list more;

	va_start(more, flags);
	if (flags & MREMAP_FIXED)
		to = va_arg(more, void *);
	va_end(more);
	if (!heap_is_ready()) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	is_first = heap_enter();
	if (is_first)
		was_kept = heap_drop_mapping(address, old, &place);
	memory = heap_real.mremap(address, old, size, flags, to);
	if (memory == MAP_FAILED && was_kept)
		heap_map_put_back(address, whole_pages(old), place);
	else if (is_first && memory != MAP_FAILED && size >= heap_real.min_bytes)
		heap_map_add("mremap", memory, whole_pages(size), __builtin_return_address(0));
	if (is_first)
		heap_is_busy = false;
	return memory;
}
