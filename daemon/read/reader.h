/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reader reads the counters of one socket. Its thread (reader-thread.h) is pinned to a CPU of
 * that socket: a counter read from another CPU costs an interrupt there.
 *
 * Clients ring doorbells, and one sweep serves all that rang before it began. While nobody rings,
 * the thread sleeps without a timeout.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/page.h"
#include "daemon/count/generation.h"
#include "daemon/count/sweep.h"
#include "daemon/read/affinity.h"
#include "daemon/read/doorbells.h"
#include "daemon/read/heartbeat.h"

/* What may be changed while it runs. */
struct reader_rules {
	struct budget_rules budget;
	uint32_t quantum; /* see tally.h */
};

struct reader_options {
	struct affinity affinity; /* the thread's own, once it runs */
	bool realtime;
	struct reader_rules rules;
	uint32_t sweep_every_s; /* so often also if nobody rings; 0: never */
	int stopped_fd;         /* eventfd: rung while boxes stand still, once a second */
};

/* What `uncore info` shows of a reader. */
struct reader_state {
	uint64_t sweeps;
	uint64_t last_sweep_ns; /* how long it took */
	uint64_t cpu_ns;        /* CPU time of the thread */
	uint64_t throttled;     /* claims that had to wait for budget or interval */
	uint32_t quantum;       /* of its rules */
	unsigned n_clients;
	int stopped;   /* a box that stands still, by its number on this socket; -1: none */
	bool realtime; /* SCHED_FIFO was granted */
	bool pinned;   /* runs on the CPU it should */
};

struct reader {
	struct reader_options options;
	struct sweep sweep; /* the thread's own, once it runs */

	pthread_t thread;
	bool running;
	struct heartbeat heartbeat; /* the thread's; anybody may look */

	/* the thread's own */
	bool ordered;              /* in this turn: there is an order */
	uint64_t cpu_ns;           /* used so far */
	uint64_t stopped_since_ns; /* 0: every box counts, or was not asked yet */
	uint64_t rested_ns;        /* when it last let others have its CPU */

	pthread_mutex_t lock;          /* of what follows, and of .options.rules */
	bool stop;                     /* an order */
	struct page_header *next_page; /* an order; NULL: it was carried out */
	pthread_cond_t carried_out;
	struct doorbells doorbells;
	struct reader_state state;
};

/*
 * Makes the reader of @socket, goes on from its last sweep, if there was one, and makes the next,
 * in the calling thread; starts nothing yet. @generation must live as long as the reader. -ENOMEM,
 * errno of epoll_create1(2) and eventfd(2).
 */
int reader_init(struct reader *reader, const struct reader_options *options,
	const struct generation *generation, unsigned socket);

/* Notes the last sweep in .state. The reader's thread, with the lock held, or before it runs. */
void reader_note_sweep(struct reader *reader);

/* Stops the thread and frees everything; for every reader_init(), failed ones too. */
void reader_done(struct reader *reader);

/*
 * Watches @fd, the doorbell of a user's clients, who all sleep on @wakeup; both stay the caller's.
 * @place and @account, below DOORBELLS_PLACES, are for the caller to give away. From any thread, as
 * all that follows. Errno of epoll_ctl(2).
 */
int reader_add(struct reader *reader, unsigned place, unsigned account, int fd,
	struct page_wakeup *wakeup);
void reader_remove(struct reader *reader, unsigned place);

/* Watches @fd in the place of the doorbell that is there. Errno of epoll_ctl(2). */
int reader_replace(struct reader *reader, unsigned place, int fd);

/* How many clients ring there now. */
void reader_count_clients(struct reader *reader, unsigned place, int change);

/* The user of @place is charged as @account from now on; @account stands for another user. */
void reader_set_account(struct reader *reader, unsigned place, unsigned account);
void reader_forget_account(struct reader *reader, unsigned account);

/* Has it publish into another page with the same tables from now on; the first sweep is there when
 * this returns. */
void reader_move(struct reader *reader, struct page_header *page);

/* From the next sweep on; claims that wait do so by the new rules. */
void reader_set_rules(struct reader *reader, const struct reader_rules *rules);

struct reader_state reader_state(struct reader *reader);
