/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The doorbells of one socket, and the rings that came.
 *
 * Each user has one doorbell, an eventfd that all its clients write to, in a *place* of its own.
 * The reader watches all doorbells with an edge-triggered epoll. It never reads, closes or
 * unwatches a doorbell: the user's clients could make that take as long as they please.
 *
 * A user whose claim waits (claims.h) need not ring. If it rings all the same, its doorbell is
 * *muted* by EPOLL_CTL_MOD until the claim is answered. EPOLL_CTL_MOD looks at the doorbell's count
 * and at nothing that clients hold (fs/eventpoll.c, ep_modify; fs/eventfd.c, eventfd_poll). It
 * takes 2 to 4 us while a call of the client is held in a page fault.
 *
 * A doorbell is an eventfd, because a pipe that nobody drains would be worse. With 16,000 watchers
 * of the client's end (Linux 6.18), a ring costs the client 2 ms with an eventfd and 13 us with a
 * pipe. But closing our end, which is not the last, takes 2 us with an eventfd and 2 ms with a
 * pipe, which walks the watchers. A pipe also fills up, and then a client would have to ask for
 * another.
 *
 * The reader's thread calls everything but doorbells_wait() with the lock held.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "common/page.h"
#include "daemon/read/budget.h"

enum {
	DOORBELLS_PLACES = 16384, /* as many users as there may be clients */
	DOORBELLS_EVENTS = 1024,  /* looked at in one go */
};

/* The claim of a user (claims.h) for one sweep. */
enum claim {
	CLAIM_NONE,
	CLAIM_WAITS,
	CLAIM_JOINS,    /* it waits, and the next sweep answers it */
	CLAIM_ANSWERED, /* by the sweep of this turn */
};

/* All zero: free. */
struct doorbell {
	enum claim claim;
	bool listed;      /* in doorbells.busy */
	bool rang;        /* in this turn */
	bool half_woken;  /* some of its waiters still sleep */
	bool muted;       /* because it rang although its claim waits */
	bool all_came;    /* no ring seems late for the last answer */
	int fd;           /* borrowed */
	uint32_t use;     /* how often the place was taken; marks events of former users */
	unsigned account; /* of the budget */
	unsigned former;  /* 1 + account of a former user, which pays for this turn; 0: none */
	unsigned n_clients;
	unsigned n_woken;     /* waiters that the last answer woke */
	unsigned moments;     /* that a sweep waits for its clients to ring together; 0: none */
	unsigned n_quiet;     /* answers with a quiet last moment, since a ring was late */
	unsigned n_late;      /* late rings while .moments is 0 */
	uint64_t answered_ns; /* when its waiters were last woken */
	uint64_t wake_ns;     /* time that waking took in this turn */
	uint64_t check_ns;    /* when to look at its claim again; 0: now */
	uint64_t more_ns;     /* when to wake more of its waiters, if it is half woken; 0: now */
	struct page_wakeup *wakeup; /* borrowed; NULL: the place is free */
};

static inline bool doorbell_waits(const struct doorbell *doorbell)
{
	return doorbell->claim == CLAIM_WAITS || doorbell->claim == CLAIM_JOINS;
}

/* The account that is charged for the costs of a doorbell in this turn. */
static inline unsigned doorbell_payer(const struct doorbell *doorbell)
{
	return doorbell->former ? doorbell->former - 1 : doorbell->account;
}

/* A sweep that the main thread wants for a user, and does not wait for; see doorbells_keep(). */
struct kept_sweep {
	struct kept_sweep *next;
	unsigned place;
	enum { KEPT_ASKED, KEPT_CLAIMED, KEPT_THERE, KEPT_LOST } state; /* atomic */
	struct page_sweep sweep;                                        /* if it is there */
};

struct doorbells {
	pthread_mutex_t lock; /* protects all but .epoll_fd, .order_fd, .events and .n_events */
	int epoll_fd;
	int order_fd; /* eventfd: the server has an order */
	struct epoll_event events[DOORBELLS_EVENTS];
	int n_events;       /* events that are not noted yet */
	unsigned n_waiting; /* claims that were not admitted in this turn */
	uint64_t throttled; /* claims that had to wait */
	struct budget budget;
	struct doorbell *places; /* owned */
	uint32_t *busy;          /* owned: places that wait, or had something to do in this turn */
	unsigned n_busy;
	struct kept_sweep *kept; /* borrowed: those that are neither there nor lost */
};

/* -ENOMEM; errno of epoll_create1(2), eventfd(2), epoll_ctl(2). */
int doorbells_init(struct doorbells *doorbells, const struct budget_rules *rules);
void doorbells_done(struct doorbells *doorbells);

/* --- from any thread, without the lock --- */

/*
 * Watches @fd, an eventfd, for @account, in the free @place; the user's clients sleep on @wakeup.
 * Both @fd and @wakeup stay the caller's; @wakeup must live until doorbells_remove(). Errno of
 * epoll_ctl(2).
 */
int doorbells_add(struct doorbells *doorbells, unsigned place, unsigned account, int fd,
	struct page_wakeup *wakeup);

/* Watches @fd at @place instead of the doorbell that is there. Errno of epoll_ctl(2). */
int doorbells_watch(struct doorbells *doorbells, unsigned place, int fd);

/* Frees @place. Its old doorbell stays watched until it is closed, but rings there do nothing. */
void doorbells_remove(struct doorbells *doorbells, unsigned place);

/*
 * Has the user at kept->place make a claim, as if a client rang, and keeps the sweep that answers
 * it. @kept must live until it is there, or lost because the place became free.
 */
void doorbells_keep(struct doorbells *doorbells, struct kept_sweep *kept);

/* Adds @change to the number of clients that ring at @place. */
void doorbells_count_clients(struct doorbells *doorbells, unsigned place, int change);

/* @account stands for another user from now on. */
void doorbells_forget_account(struct doorbells *doorbells, unsigned account);

/* What @account has used of the reader. */
struct budget_use doorbells_use(struct doorbells *doorbells, unsigned account);

/* Has the reader look whether there is an order. */
void doorbells_order(const struct doorbells *doorbells);

/* --- the beginning of a reader's turn; claims.h has the rest --- */

/* All that is kept for @place is there now, or lost if @sweep is NULL. */
void doorbells_end_kept(
	struct doorbells *doorbells, unsigned place, const struct page_sweep *sweep);

/* Applies new rules, and looks at all claims again. */
void doorbells_set_rules(struct doorbells *doorbells, const struct budget_rules *rules);

/* Sleeps until somebody rings, or for @timeout_ns at most; negative: for ever. To be called without
 * the lock. */
void doorbells_wait(struct doorbells *doorbells, int64_t timeout_ns);

/* Notes the rings, and what is to be kept. True: there is an order. */
bool doorbells_note(struct doorbells *doorbells, uint64_t now_ns);

/* Mutes the doorbell at @place, or unmutes it. After that, an unmuted doorbell that was ever rung
 * is reported once, because nobody drains it. */
void doorbells_mute(struct doorbells *doorbells, unsigned place, bool muted);
