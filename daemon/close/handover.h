/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptors that the main thread hands over to the closers, and how many of them wait to be
 * closed for each account. The main thread takes no lock here, and allocates and frees the elements
 * itself, because malloc(3) takes locks, too. A closer that holds a lock may wait for a CPU for 10
 * ms and more, and newcomers would wait with it.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/admit/accounts.h"
#include "daemon/close/socket-closer.h"
#include "daemon/read/budget.h"

/* A descriptor for another thread to close. */
struct closing {
	struct closing *next;
	unsigned account;
	int fd;
	int epoll_fd;     /* the epoll that watches a doorbell; -1: this is a connection */
	bool was_served;  /* its client was welcomed, and has left of its own accord */
	uint64_t cost_ns; /* CPU time of the closes, in one element of those closed together */
};

/* Connections do not wait behind doorbells, because only the close of a doorbell can hang. */
bool closing_is_connection(const struct closing *closing);

/* Same account and same kind? One thread closes such descriptors, one after the other. */
bool closing_is_like(const struct closing *a, const struct closing *b);

/* First in, first out; owns its elements. */
struct closing_queue {
	struct closing *first, **end;
};

/* Closes the descriptors of a list; the elements stay. */
void closing_close_all(struct closing *list, struct socket_closer *sockets);

/*
 * Bounds on the descriptors of an account that wait to be closed. From HANDOVER_CROWD on, the
 * account's newcomers are turned away. From HANDOVER_FULL on, these newcomers are closed without
 * waiting. Both bounds are lower if the limit of open files is low. Connections of clients that
 * were served and have left make no crowd, because the ranks of a job leave all at once while the
 * next ranks come. If HANDOVER_FULL descriptors of all accounts together wait, such connections are
 * closed without waiting, too, if that is safe. They count in .pending like all others, from which
 * the server knows how many descriptors an account causes (admission.c).
 */
enum { HANDOVER_CROWD = 64, HANDOVER_FULL = 128 };

struct handover {
	unsigned crowd, full;                   /* HANDOVER_CROWD and HANDOVER_FULL, or fewer */
	_Atomic(struct closing *) handed, done; /* to the closers, and back; the newest first */
	atomic_uint n_woken;                    /* futex on which the closers wait for work */
	atomic_uint n_pending;                  /* descriptors to be closed */
	atomic_uint pending[ACCOUNTS_MAX];      /* ... of each account */
	atomic_uint waiting[ACCOUNTS_MAX];      /* ... except was_served */
	atomic_uint doorbells[ACCOUNTS_MAX];    /* ... the doorbells among these */
};

/* --- for the main thread --- */

/* Reads the limit of open files; all other fields must be 0. */
void handover_init(struct handover *handover);

/* Hands over a copy of *@what, with its descriptor. Wakes nobody. */
void handover_put(struct handover *handover, const struct closing *what);

/* Wakes @most closers. */
void handover_wake(struct handover *handover, int most);

/* Frees what the closers are done with, and charges it to its accounts; @budget NULL: to nobody. */
void handover_clean(struct handover *handover, struct budget *budget);

/* --- for the closers, one at a time --- */

/* Moves everything that was put to the end of @queue, in the order of handover_put(). */
void handover_take(struct handover *handover, struct closing_queue *queue);

/* Gives back a list of elements that are closed, so they no longer count as waiting. */
void handover_give_back(struct handover *handover, struct closing *list);

/* Waits until handover_wake() changes handover->n_woken from @n_woken, or for @most_ns; 0: for any
 * time. */
void handover_wait(struct handover *handover, unsigned n_woken, uint64_t most_ns);
