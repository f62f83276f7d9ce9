/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The doorbells of one socket: who rang, who may have a sweep now, and who is woken after it.
 *
 * Each user has one doorbell, an eventfd that all its clients write to, in a *place* of its own.
 * The reader watches them with an edge-triggered epoll, and never reads, closes or unwatches one:
 * that could take as long as its clients please. All rings of a user that wait for one sweep are
 * one claim. It waits for budget and intervals (budget.h); while it does, the page says so, and the
 * library does not ring. A doorbell that is rung all the same is *muted* until its claim is
 * answered, by EPOLL_CTL_MOD, which looks at the doorbell's count and at nothing that its clients
 * hold (fs/eventpoll.c, ep_modify; fs/eventfd.c, eventfd_poll).
 *
 * Clients of a user that ring together, such as the ranks of a job behind a barrier, had better be
 * answered by one sweep: it waits for some moments, in which they get the reader's CPU. How many
 * moments they take, one each at most, is learned from those who are late, and ring soon after an
 * answer. A client may do so that reads alone, but without pause: only many late rings make a
 * batch, and moments in which nobody rings unmake it. The only client of a user waits neither for
 * others of its own nor for another user's batch.
 *
 * Waiters are woken in portions, with the lock free in between, and the users of whom few wait come
 * first. What waking a user's clients takes is charged to that user alone.
 *
 * Everything but doorbells_wait() is called with the reader's lock held.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "common/page.h"
#include "daemon/read/budget.h"

enum {
	DOORBELLS_PLACES = 16384, /* as many users as there may be clients */
	DOORBELLS_EVENTS = 1024,  /* looked at in one go */
	DOORBELLS_PORTION = 64,   /* waiters woken in one go */
	DOORBELLS_MOMENTS = 20,   /* that a batch is waited for at most */
};

/* All zero: free. */
struct doorbell {
	bool used;
	bool listed;      /* in doorbells.busy */
	bool rang;        /* in this turn */
	bool waits;       /* for a sweep: its claim */
	bool joins;       /* the sweep that comes next answers it */
	bool answered;    /* by the sweep of this turn */
	bool half_woken;  /* some of its waiters sleep on */
	bool muted;       /* rang although its claim waits */
	bool all_came;    /* in time for the last answer, as it seems: no ring is late for it */
	int fd;           /* borrowed */
	uint32_t use;     /* how often the place was given away: tells events of former users */
	unsigned account; /* of the budget */
	unsigned former;  /* 1 + the account of a former user, who pays for this turn; 0: none */
	unsigned n_clients;
	unsigned n_woken;     /* waiters, by the last answer */
	unsigned moments;     /* in which its clients ring, where they ring together; 0: at once */
	unsigned n_quiet;     /* answers before whose last moment nobody rang, since one was late */
	unsigned n_late;      /* rings soon after an answer, as long as that is 0 */
	uint64_t answered_ns; /* when its waiters were last woken */
	uint64_t wake_ns;     /* what waking took in this turn */
	uint64_t check_ns;    /* when to look at its claim again; 0: now */
	uint64_t more_ns;     /* when to wake more of its waiters, if it is half woken; 0: now */
	struct page_wakeup *wakeup; /* borrowed */
};

struct doorbells {
	int epoll_fd;
	int order_fd; /* eventfd: the server has an order */
	struct epoll_event events[DOORBELLS_EVENTS];
	int n_events;       /* that were not noted yet */
	unsigned n_waiting; /* claims that were not admitted in this turn */
	uint64_t throttled; /* claims that had to wait */
	struct budget budget;
	struct doorbell *places; /* owned */
	uint32_t *busy;          /* owned: places that wait, or had something to do in this turn */
	unsigned n_busy;
};

/* -ENOMEM; errno of epoll_create1(2), eventfd(2), epoll_ctl(2). */
int doorbells_init(struct doorbells *doorbells, const struct budget_rules *rules);
void doorbells_done(struct doorbells *doorbells);

/* --- from any thread --- */

/*
 * Watches @fd, an eventfd, on behalf of @account, in @place, which is free; its clients sleep on
 * @wakeup. Both stay the caller's; @wakeup must live until doorbells_remove(). Errno of
 * epoll_ctl(2).
 */
int doorbells_add(struct doorbells *doorbells, unsigned place, unsigned account, int fd,
	struct page_wakeup *wakeup);

/* Watches @fd in the place of the doorbell that is there. Errno of epoll_ctl(2). */
int doorbells_watch(struct doorbells *doorbells, unsigned place, int fd);

/* The place is free again. What rings there rings in vain, until it is closed. */
void doorbells_remove(struct doorbells *doorbells, unsigned place);

/* New rules: all claims are looked at again. */
void doorbells_set_rules(struct doorbells *doorbells, const struct budget_rules *rules);

/* --- one turn of the reader, in this order --- */

/* Sleeps until somebody rings, or for @timeout_ns at most; negative: for ever. Without the lock. */
void doorbells_wait(struct doorbells *doorbells, int64_t timeout_ns);

/* Notes who rang. True: there is an order. */
bool doorbells_note(struct doorbells *doorbells, uint64_t now_ns);

/* Looks at the claims. True: one is admitted, so a sweep is to be made. */
bool doorbells_admit(struct doorbells *doorbells, uint64_t now_ns);

/* For how many moments all who are admitted, and who rang since, have to wait for their batches. */
unsigned doorbells_expect_more(const struct doorbells *doorbells);

/* ... and in the last of them nobody rang. If that goes on, one fewer will do. */
void doorbells_expect_fewer(struct doorbells *doorbells);

/*
 * All others that can pay their part join the sweep, which is about to begin. One or two clients of
 * a user may spin for @spin_ns when they wait next: on a busy machine, one that sleeps may get its
 * CPU back a tick later. True: the sweep answers a single client.
 */
bool doorbells_join(struct doorbells *doorbells, uint64_t now_ns, uint32_t spin_ns);

/*
 * After the sweep: wakes a portion of the waiters at doorbells.busy[@i], if they are answered or
 * half woken; @many: only if the last answer woke many, else only if it did not.
 */
void doorbells_wake(struct doorbells *doorbells, unsigned i, bool many);

/*
 * The turn cost @cost_ns, with a sweep that began at @begin_ns (0: none), and is over. Users who
 * wait on are told until when.
 */
void doorbells_charge(
	struct doorbells *doorbells, uint64_t begin_ns, uint64_t cost_ns, uint64_t now_ns);

/* When to look at the claims again if nobody rings: in so many ns; negative: never. */
int64_t doorbells_due_ns(const struct doorbells *doorbells, uint64_t now_ns);
