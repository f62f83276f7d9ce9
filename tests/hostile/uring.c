/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/hostile/uring.h"

#include <linux/futex.h>
#include <linux/io_uring.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Newer than the headers of Debian 12: include/uapi/linux/io_uring.h and futex.h, Linux 6.7. */
enum { URING_FUTEX_WAIT = 51, FUTEX_WORD_OF_32_BITS = 2 };

enum { ENTRIES = 4096 };

static int enter(const struct uring *uring, unsigned n_submitted, unsigned n_wanted, unsigned flags)
{
	return (int)syscall(
		SYS_io_uring_enter, uring->fd, n_submitted, n_wanted, flags, NULL, (size_t)0);
}

static void *map_ring(int fd, size_t bytes, uint64_t offset)
{
	void *memory = mmap(
		NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, (off_t)offset);

	return memory == MAP_FAILED ? NULL : memory;
}

bool uring_open(struct uring *ret)
{
	struct io_uring_params params = {};
	size_t cq_bytes;
	char *sq, *cq;

	*ret = (struct uring){ .fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &params) };
	if (ret->fd < 0)
		return false;
	cq_bytes = params.cq_off.cqes + params.cq_entries * sizeof *ret->cqes;
	sq = map_ring(ret->fd, params.sq_off.array + params.sq_entries * sizeof *ret->sq_array,
		IORING_OFF_SQ_RING);
	cq = map_ring(ret->fd, cq_bytes, IORING_OFF_CQ_RING);
	ret->sqes = map_ring(ret->fd, params.sq_entries * sizeof *ret->sqes, IORING_OFF_SQES);
	if (!sq || !cq || !ret->sqes)
		return false;
	ret->sq_tail = (void *)(sq + params.sq_off.tail);
	ret->sq_array = (void *)(sq + params.sq_off.array);
	ret->sq_mask = params.sq_entries - 1;
	ret->cq_head = (void *)(cq + params.cq_off.head);
	ret->cq_tail = (void *)(cq + params.cq_off.tail);
	ret->cqes = (void *)(cq + params.cq_off.cqes);
	ret->cq_mask = params.cq_entries - 1;
	return true;
}

static void prepare(struct uring *uring, const uint32_t *word)
{
	uint32_t tail = *uring->sq_tail, at = tail & uring->sq_mask;
	struct io_uring_sqe *request = &uring->sqes[at];

	memset(request, 0, sizeof *request);
	request->opcode = URING_FUTEX_WAIT;
	request->fd = FUTEX_WORD_OF_32_BITS;
	request->addr = (uintptr_t)word;
	request->off = __atomic_load_n(word, __ATOMIC_ACQUIRE);
	request->addr3 = FUTEX_BITSET_MATCH_ANY;
	uring->sq_array[at] = at;
	__atomic_store_n(uring->sq_tail, tail + 1, __ATOMIC_RELEASE);
}

bool uring_wait_for_word(struct uring *uring, const uint32_t *word, unsigned n)
{
	while (n) {
		unsigned part = n < ENTRIES ? n : ENTRIES;

		for (unsigned i = 0; i < part; i++)
			prepare(uring, word);
		if (enter(uring, part, 0, 0) != (int)part)
			return false;
		n -= part;
	}
	return true;
}

unsigned uring_collect(struct uring *uring)
{
	unsigned n = 0, some;

	do {
		uint32_t tail;

		enter(uring, 0, 0,
			IORING_ENTER_GETEVENTS); /* completions that did not fit so far */
		tail = __atomic_load_n(uring->cq_tail, __ATOMIC_ACQUIRE);
		some = tail - *uring->cq_head;
		__atomic_store_n(uring->cq_head, tail, __ATOMIC_RELEASE);
		n += some;
	} while (some);
	return n;
}

bool uring_can_wait(void)
{
	static uint32_t word;
	struct uring uring;
	bool can = uring_open(&uring) && uring_wait_for_word(&uring, &word, 1) &&
		   uring_collect(&uring) == 0;

	if (uring.fd >= 0)
		close(uring.fd);
	return can;
}
