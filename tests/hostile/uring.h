/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiters of a futex without threads: requests to io_uring, as many as there is memory for. */
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

/* False: this kernel, or its administrator, does not let us. */
bool uring_open(struct uring *ret);

/* Adds @n waiters that wait while *@word is as it is now. False: they cannot wait here. */
bool uring_wait_for_word(struct uring *uring, const uint32_t *word, unsigned n);

/* Takes note of all that were woken, and returns how many. */
unsigned uring_collect(struct uring *uring);

/* Does this kernel know how to wait for a futex so? */
bool uring_can_wait(void);
