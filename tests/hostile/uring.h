/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiters of a futex without threads: requests to io_uring, as many as fit into memory. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct uring {
	int fd;
	uint32_t *sq_tail, *cq_head, *cq_tail;
	uint32_t sq_mask, cq_mask;
	uint32_t *sq_array;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
};

/* False: the kernel or its administrator does not permit io_uring. */
bool uring_open(struct uring *ret);

/* Adds @n waiters that wait while *@word is as it is now. False: they cannot wait here. */
bool uring_wait_for_word(struct uring *uring, const uint32_t *word, unsigned n);

/* Takes note of all that were woken, and returns how many. */
unsigned uring_collect(struct uring *uring);

/* Can io_uring of this kernel wait for a futex? */
bool uring_can_wait(void);
