/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reader reads the counters of one socket. Its thread (reader-thread.c) is pinned to a CPU of
 * that socket, because reading a counter from another CPU costs an interrupt on the socket's CPU.
 *
 * Clients ring doorbells, and one sweep serves all clients that rang before it began. While nobody
 * rings, the thread sleeps, without a timeout if the platform needs no regular sweeps.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/page.h"
#include "daemon/base/fault.h"
#include "daemon/count/generation.h"
#include "daemon/count/sweep.h"
#include "daemon/read/affinity.h"
#include "daemon/read/doorbells.h"
#include "daemon/read/heartbeat.h"

/* The rules that may change while the reader runs. */
struct reader_rules {
	struct budget_rules budget;
	struct tally_quanta quanta;
};

struct reader_options {
	struct affinity affinity; /* the thread's own, once it runs */
	bool realtime;
	bool may_use_program; /* see snapshot.h */
	struct reader_rules rules;
	uint32_t sweep_every_s; /* a sweep at least this often; 0: only for rings */
	int stopped_fd;         /* eventfd: written once a second while boxes stand still */
};

/* The state of a reader, as `uncore info` shows it. */
struct reader_state {
	uint64_t sweeps;
	uint64_t last_sweep_ns;     /* how long the last sweep took */
	uint64_t cpu_ns;            /* CPU time of the thread */
	uint64_t throttled;         /* claims that had to wait for budget or interval */
	struct tally_quanta quanta; /* of its rules */
	uint64_t longest_call_ns;   /* of a program; 0: none ran */
	unsigned n_by_program;      /* boxes of the last sweep that the program read */
	int stopped;   /* a box that stands still, by its number on this socket; -1: none */
	bool realtime; /* SCHED_FIFO was granted */
	bool pinned;   /* runs on the CPU it should */
};

struct reader {
	struct reader_options options;
	struct sweep sweep;    /* the thread's own, once it runs */
	struct fault why_read; /* why its sweeps take read(2); the main thread's */

	pthread_t thread;
	bool running;
	struct heartbeat heartbeat; /* the thread's; anybody may look */

	/* the thread's own */
	bool has_order;            /* in this turn: there is an order */
	uint64_t cpu_ns;           /* used so far */
	uint64_t stopped_since_ns; /* 0: every box counts, or was not asked yet */
	uint64_t rested_ns;        /* when it last let others have its CPU */

	/* doorbells.lock protects these, and .options.rules */
	bool stop;                     /* an order */
	struct page_header *next_page; /* an order; NULL: it was carried out */
	pthread_cond_t carried_out;
	struct doorbells doorbells;
	struct reader_state state;
};

/*
 * Makes the reader of @socket, goes on from the socket's last sweep, if there was one, and makes
 * the next sweep in the calling thread; starts no thread yet. @generation must live as long as the
 * reader. -ENOMEM, errno of epoll_create1(2) and eventfd(2).
 */
int reader_init(struct reader *reader, const struct reader_options *options,
	const struct generation *generation, unsigned socket);

/* Its sweeps use a program in the kernel from now on, if uncored can run it without privilege,
 * which it must have given up. False: they go on with read(2), and .why_read says why. */
bool reader_use_program(struct reader *reader);

/* Starts the thread. It is not an error if the system refuses SCHED_FIFO or the CPU: reader_state()
 * shows the refusal. Errno of pthread_create(3). reader_done() ends the thread. */
int reader_thread_start(struct reader *reader);

/* Notes the last sweep in .state. For the thread, with the lock held, or before the thread runs. */
void reader_note_sweep(struct reader *reader);

/* Stops the thread and frees everything; for every reader_init(), even a failed one. */
void reader_done(struct reader *reader);

/* --- from any thread, as doorbells.h has more --- */

/* Has the reader publish into @page, which has the same tables, from now on. The first sweep is in
 * @page when this returns. */
void reader_move(struct reader *reader, struct page_header *page);

/* The rules hold from the next sweep on, also for claims that wait. */
void reader_set_rules(struct reader *reader, const struct reader_rules *rules);

struct reader_state reader_state(struct reader *reader);

/* Is there a ring, or an order, that the thread has not taken yet? Takes no lock of the reader. */
bool reader_is_rung(const struct reader *reader);
