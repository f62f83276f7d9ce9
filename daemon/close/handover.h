/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the main thread hands over to the closers, and how much of that waits to be closed, for each
 * account. The main thread takes no lock here and shares no memory of malloc(3) with the closers:
 * one that has such a lock may wait for a CPU for 10 ms and more, and newcomers would wait with it.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "daemon/admit/accounts.h"
#include "daemon/close/closing.h"

/*
 * Descriptors of an account that wait to be closed: from the first number on its newcomers are
 * turned away, and from the second on these are not among the waiting. Fewer where the limit of
 * open files is low. Connections of clients that were served and have left do not count: the ranks
 * of a job leave at once, and the next ranks come meanwhile. The budget bounds how many are served;
 * where as many as the second number wait in all, these are not among the waiting either.
 */
enum { HANDOVER_CROWD = 64, HANDOVER_FULL = 128 };

struct handover {
	unsigned crowd, full;                   /* HANDOVER_CROWD and HANDOVER_FULL, or fewer */
	_Atomic(struct closing *) handed, done; /* to the closers, and back; the newest first */
	atomic_uint n_woken;                    /* futex: the closers wait for work */
	atomic_uint n_pending;                  /* to be closed */
	atomic_uint waiting[ACCOUNTS_MAX];      /* ... of each account; none that was_served */
	atomic_uint doorbells[ACCOUNTS_MAX];    /* ... the doorbells among these */
};

/* --- for the main thread --- */

/* Reads the limit of open files; all else must be 0. */
void handover_init(struct handover *handover);

/* Hands over a copy of *@what, with its descriptor. Wakes nobody. */
void handover_put(struct handover *handover, const struct closing *what);

/* Wakes @most closers. */
void handover_wake(struct handover *handover, int most);

/* Frees what the closers are done with. */
void handover_clean(struct handover *handover);

/* --- for the closers, one at a time --- */

/* Moves all that was put to the end of @queue, in its order. */
void handover_take(struct handover *handover, struct closing_queue *queue);

/* Takes back what is closed: it no longer waits. @queue is empty then. */
void handover_give_back(struct handover *handover, struct closing_queue *queue);

/* Waits until somebody was woken since handover->n_woken was @n_woken, or for @most_ns; 0: for any
 * time. */
void handover_wait(struct handover *handover, unsigned n_woken, uint64_t most_ns);
