/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The page: shared memory that uncored writes and clients can only read.
 *
 * It has a header, tables that never change while the page lives (metrics, sockets, channels,
 * texts), and one cell per socket. Each sweep of a socket rewrites its cell under a sequence lock,
 * so a cached read is only a copy, without a system call.
 *
 * A fresh read is built on two 32-bit counters of the cell. The reader thread adds one to `started`
 * before it reads the first counter of a sweep, and copies that number to `finished` after the
 * values are in the cell. A client that loads started == n knows that the sweep n + 1 begins after
 * its load, so it waits until finished is past n. Both counters wrap; compare by difference only.
 *
 * All users share the cell, so nobody sleeps on it: otherwise one user could make another pay for
 * waking its threads. Each user has *wake-ups*, one per socket, in memory that only this user's
 * processes get. They sleep on the futex of the wake-up. The reader thread rings it after a sweep
 * that one of them asked for. Only the cell says whether the wait is over.
 *
 * Words that processes share are accessed only by atomic operations, so that a torn copy can be
 * noticed and is never undefined behaviour. Nothing here depends on the size of a memory page.
 *
 * The daemon and a client may be of different releases (wire.h), and a later daemon may continue
 * the page of an earlier one, or an earlier daemon the page of a later one. So:
 *
 * - Magic, version and state keep their places and their meaning in every version, so that any
 *   release can withdraw any page. There will be no third state.
 * - Within a version the structures and limits below never change. The page grows only at its end,
 *   after the cells. A client maps all of it and uses the parts that it knows. A part that the page
 *   does not have is absent.
 * - An addition begins with its length and with a copy of page_daemon.started_ns, made by the
 *   process that writes the addition. An older daemon that continues the page sets
 *   page_daemon.started_ns anew and does not know the copy. If the two differ, nobody keeps the
 *   addition up to date, and a client treats it as absent.
 * - A quality flag may be added. Clients pass on a flag that they do not know, and call it
 *   "unknown". Metrics, units and platforms are names, and any name is valid.
 * - Padding is 0 until it has a meaning. From then on, 0 means the behaviour of an older daemon.
 * - Any other change makes a new version. Clients that do not know the version refuse it with a
 *   sentence. A new version of the page comes with a new version of the protocol: the daemon then
 *   refuses clients whose HELLO has a lower version, so that they get the daemon's own sentence.
 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/rules.h"

#define PAGE_MAGIC 0x756e636f72656401ULL /* "uncored", 1; the same in every version */

enum {
	PAGE_VERSION = 1,
	PAGE_SOCKETS_MAX = 32,
	PAGE_METRICS_MAX = 16,
	PAGE_CHANNELS_MAX = 4096, /* of all sockets */
	PAGE_TEXTS_MAX = 256,
	PAGE_TABLES_MAX = 1 << 20, /* bytes before the cells: the header and all tables */
	PAGE_NAME_MAX = 32,        /* bytes, with the final NUL */
	PAGE_UNIT_MAX = 28,        /* likewise */
	PAGE_TEXT_MAX = 160,       /* likewise */
	PAGE_CACHE_LINE = 128,
	PAGE_PMID_FIRST = 512, /* of the numbers that a site may give; below are uncored's own */
	PAGE_PMID_LAST = 1023,
};

/*
 * Quality of a value. The first four come and go. The cell says in which sweep each was last
 * raised, so that a difference of two samples also has the flags that were raised between them.
 */
enum page_quality {
	PAGE_ESTIMATED = 1 << 0,    /* multiplexed: scaled by enabled / running */
	PAGE_PARTIAL = 1 << 1,      /* a box of the set could not be opened or read */
	PAGE_FROZEN = 1 << 2,       /* the counter, or the clock of its box, stood still */
	PAGE_RESET = 1 << 3,        /* the hardware count went back */
	PAGE_UNCALIBRATED = 1 << 4, /* sources disagree on what a count is worth, or is of */
	PAGE_STANDIN = 1 << 5,      /* not memory traffic: the stand-in machine */
	PAGE_ABSENT = 1 << 30,      /* there is no value; the text says why */
};
enum { PAGE_PASSING_MAX = 4 }; /* how many of the flags come and go */

/* The word that users see for each flag. */
enum { PAGE_QUALITY_WORDS = 7 };
extern const struct page_quality_word {
	uint32_t flag;
	const char *word;
} page_quality_words[PAGE_QUALITY_WORDS];

enum page_state { PAGE_LIVE = 1, PAGE_RETIRED = 2 };

/* The facts that the daemon's main thread publishes about the daemon. */
struct page_daemon {
	uint64_t started_ns;      /* CLOCK_MONOTONIC */
	uint64_t n_clients;       /* atomic */
	uint64_t refused;         /* atomic: requests and connections */
	uint64_t min_interval_ns; /* atomic: the longest time that the site may delay a ring */
};

struct page_header {
	uint64_t magic;
	uint32_t version;
	uint32_t state; /* enum page_state; atomic */
	uint64_t page_bytes;
	uint64_t generation[2]; /* random; a new one means counts may have been lost */
	uint32_t n_metrics, n_sockets, n_channels, n_texts;
	uint32_t metrics_at, sockets_at, channels_at, texts_at; /* offsets in bytes */
	uint32_t cells_at, cell_stride;
	char platform[PAGE_NAME_MAX];
	struct page_daemon daemon;
};

struct page_metric {
	char name[PAGE_NAME_MAX]; /* "dram.read" */
	char unit[PAGE_UNIT_MAX]; /* "bytes", or another unit */
	uint32_t pmid;            /* the site's number for PCP; 0: none */
};

struct page_socket {
	uint32_t package;       /* the kernel's physical_package_id */
	int32_t cpu;            /* where its reader thread runs; -1: it has no counters */
	uint32_t first_channel; /* its channels are consecutive in the table */
	uint32_t n_channels;
};

/* One counter of one memory channel. */
struct page_channel {
	char name[PAGE_NAME_MAX]; /* "imc3" */
	uint32_t socket;
	uint32_t metric;           /* index into the metrics */
	char pmu[PAGE_NAME_MAX];   /* the kernel's name of its box */
	char event[PAGE_NAME_MAX]; /* the kernel's name of its one event; "": none, or several */
	uint32_t cpu;              /* the CPU that the box is opened on */
	uint32_t bytes;            /* per count of that event; 0: no event */
};

struct page_text {
	char text[PAGE_TEXT_MAX];
};

struct page_value {
	uint64_t count; /* in the metric's unit, cumulative since the generation began */
	uint32_t quality;
	uint32_t why;                      /* index into the texts, if quality says absent */
	uint64_t raised[PAGE_PASSING_MAX]; /* sweep that last raised flag 1 << i; 0: never */
};

struct page_channel_value {
	uint64_t count;
	uint32_t quality;
	uint32_t why;
};

/* The result of one sweep, which a cached read copies. */
struct page_sweep {
	uint64_t number;   /* 1 is the first since the generation began */
	uint64_t begin_ns; /* CLOCK_MONOTONIC, before the first counter was read */
	uint64_t end_ns;   /* ... and after the last */
	struct page_value values[PAGE_METRICS_MAX];
};

struct page_cell {
	uint32_t started;   /* atomic: sweeps begun */
	uint32_t finished;  /* atomic: last sweep published */
	uint32_t lock;      /* atomic: odd while the rest is being written */
	uint32_t reserved;  /* 0 */
	uint64_t cpu_ns;    /* atomic: CPU time that the reader thread has used */
	uint64_t throttled; /* atomic: rings that had to wait for budget or interval */
	struct page_sweep sweep;
	struct page_channel_value channels[]; /* page_socket.n_channels of them */
};

/*
 * The futex on which the waiters of one user sleep, for one socket. It has a cache line of its own.
 *
 * A ring that exceeds the user's budget waits as a *claim*. While there is a claim, a later ring of
 * this user would wait for the same sweep, so clients need not ring.
 */
struct page_wakeup {
	uint32_t n_rung;  /* atomic, futex: wraps */
	uint32_t claimed; /* atomic, 1: a sweep is promised that has not begun yet */
	uint64_t due_ns;  /* atomic: when that sweep is due, CLOCK_MONOTONIC; may be postponed */
	uint32_t spin_ns; /* atomic: how long a waiter of this user may spin before it sleeps */
	uint32_t quantum; /* atomic: bytes that values are rounded down to */
	char padding[PAGE_CACHE_LINE - 24];
};

/*
 * The rules by which users may connect, for a client that reads for others. They follow the
 * wake-ups of all sockets. Each uncored makes wake-ups and rules anew.
 */
struct page_rules {
	uint32_t lock; /* atomic: odd while the rest is being written; 0: nothing was written yet */
	uint32_t reserved; /* 0 */
	struct rules rules;
};

static_assert(offsetof(struct page_header, magic) == 0, "in every version");
static_assert(offsetof(struct page_header, version) == 8, "in every version");
static_assert(offsetof(struct page_header, state) == 12, "in every version");
static_assert(sizeof(struct page_wakeup) == PAGE_CACHE_LINE, "page_wakeup");
static_assert(sizeof(struct page_rules) == 424, "page_rules");
static_assert(sizeof(struct page_header) == 144, "page_header");
static_assert(sizeof(struct page_metric) == 64, "page_metric");
static_assert(sizeof(struct page_socket) == 16, "page_socket");
static_assert(sizeof(struct page_channel) == 112, "page_channel");
static_assert(sizeof(struct page_value) == 48, "page_value");
static_assert(sizeof(struct page_channel_value) == 16, "page_channel_value");
static_assert(offsetof(struct page_cell, sweep) == 32, "page_cell");
static_assert(offsetof(struct page_cell, channels) == 824, "page_cell");
static_assert(sizeof(struct page_header) + PAGE_METRICS_MAX * sizeof(struct page_metric) +
			      PAGE_SOCKETS_MAX * sizeof(struct page_socket) +
			      PAGE_CHANNELS_MAX * sizeof(struct page_channel) +
			      PAGE_TEXTS_MAX * sizeof(struct page_text) + PAGE_CACHE_LINE <=
		      PAGE_TABLES_MAX,
	"tables");

/* Is this the beginning of a page, of any version? @page must be aligned like memory from
 * mmap(2). */
bool page_is_any(const void *page, uint64_t size_bytes);

/* Fills in the page's size and every offset of @header, from its four counts. */
void page_lay_out(struct page_header *header, uint32_t most_channels_of_a_socket);

/*
 * Are all tables before the cells, and the cells inside @size_bytes? More may follow the cells. 0,
 * -EPROTONOSUPPORT (other version), -EBADMSG.
 */
int page_check(const void *page, uint64_t size_bytes);

/*
 * Copies the part before the cells and checks the copy as page_check() does; -ENOMEM. Another
 * process may change the page at any time, so a client that does not trust the writer uses the
 * copy, which has the offsets of the page. The caller owns *@ret_tables, for free(3).
 */
int page_copy_tables(const void *page, uint64_t size_bytes, struct page_header **ret_tables);

/* --- the parts; only the daemon may write them, and only where @p is mapped for writing --- */

static inline struct page_metric *page_metrics(const struct page_header *p)
{
	return (void *)((char *)p + p->metrics_at);
}

static inline struct page_socket *page_sockets(const struct page_header *p)
{
	return (void *)((char *)p + p->sockets_at);
}

static inline struct page_channel *page_channels(const struct page_header *p)
{
	return (void *)((char *)p + p->channels_at);
}

static inline struct page_text *page_texts(const struct page_header *p)
{
	return (void *)((char *)p + p->texts_at);
}

static inline struct page_cell *page_cell(const struct page_header *p, uint32_t socket)
{
	return (void *)((char *)p + p->cells_at + (size_t)socket * p->cell_stride);
}

/* --- writing: only the reader thread of the socket --- */

/* The result of a sweep; all borrowed. */
struct page_result {
	const struct page_sweep *sweep;
	uint32_t n_metrics; /* of the values in it */
	const struct page_channel_value *channels;
	uint32_t n_channels;
};

/* Announces a sweep: clients that ring from now on get a later one. Returns its 32-bit number. */
uint32_t page_sweep_begin(struct page_cell *cell);

/* Publishes sweep @started (from page_sweep_begin()). Waiters that spin see it; sleeping
 * waiters are not woken. */
void page_sweep_end(struct page_cell *cell, uint32_t started, const struct page_result *result);

/* Tells all waiters on @wakeup that a sweep is there. Call it after page_sweep_end(). */
void page_wakeup_announce(struct page_wakeup *wakeup);

/* Wakes up to @most waiters. Returns how many: fewer than @most means that no waiter is left
 * asleep. */
unsigned page_wakeup_wake(struct page_wakeup *wakeup, unsigned most);

/* Promises the user of @wakeup a sweep, due at @due_ns. Another call postpones it. */
static inline void page_wakeup_claim(struct page_wakeup *wakeup, uint64_t due_ns)
{
	__atomic_store_n(&wakeup->due_ns, due_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&wakeup->claimed, 1, __ATOMIC_SEQ_CST);
}

/* Ends the promise of a sweep, if there is one. Call it before that sweep's page_sweep_begin(). */
static inline void page_wakeup_redeem(struct page_wakeup *wakeup)
{
	__atomic_store_n(&wakeup->claimed, 0, __ATOMIC_SEQ_CST);
}

/*
 * Lets waiters of this user spin for the next sweep for @spin_ns before they sleep. Being woken
 * costs more than a short sweep. But if several wait for the same sweep, those that spin keep the
 * others from ringing.
 */
static inline void page_wakeup_let_spin(struct page_wakeup *wakeup, uint32_t spin_ns)
{
	__atomic_store_n(&wakeup->spin_ns, spin_ns, __ATOMIC_RELAXED);
}

/* Publishes the rules. For the main thread. */
void page_rules_write(struct page_rules *page, const struct rules *rules);

/*
 * Copies the rules. 0; -EAGAIN: they are being written, or have not been written yet; -EBADMSG:
 * they have too many users.
 */
int page_rules_copy(const struct page_rules *page, struct rules *ret);

/* Tells this user the quantum that values are rounded down to. For the main thread. */
static inline void page_wakeup_tell_quantum(struct page_wakeup *wakeup, uint32_t quantum)
{
	__atomic_store_n(&wakeup->quantum, quantum, __ATOMIC_RELAXED);
}

static inline uint32_t page_wakeup_quantum(const struct page_wakeup *wakeup)
{
	return __atomic_load_n(&wakeup->quantum, __ATOMIC_RELAXED);
}

/* Publishes the costs of the reader thread so far; see struct page_cell. */
static inline void page_tell_cost(struct page_cell *cell, uint64_t cpu_ns, uint64_t throttled)
{
	__atomic_store_n(&cell->cpu_ns, cpu_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&cell->throttled, throttled, __ATOMIC_RELAXED);
}

/* --- reading: any process, any thread --- */

/*
 * Copies the last published sweep: the first @n_metrics values, and @n_channels channels (0 and
 * NULL: none). No system call, unless a writer holds the lock for long. 0; -EAGAIN: a writer still
 * holds it after some 50 ms; it may have died while writing.
 */
int page_copy(const struct page_cell *cell, struct page_sweep *ret, uint32_t n_metrics,
	struct page_channel_value *ret_channels, uint32_t n_channels);

/* The number to pass to page_wait(). Load it before ringing. */
static inline uint32_t page_started(const struct page_cell *cell)
{
	return __atomic_load_n(&cell->started, __ATOMIC_SEQ_CST);
}

/* Is a sweep promised that begins after page_started() was called? Then nobody needs to ring. */
bool page_wakeup_is_claimed(const struct page_wakeup *wakeup);

/* When the last promised sweep is or was due, CLOCK_MONOTONIC; 0: there was none. */
static inline uint64_t page_wakeup_due_ns(const struct page_wakeup *wakeup)
{
	return __atomic_load_n(&wakeup->due_ns, __ATOMIC_RELAXED);
}

/*
 * Waits until a sweep that began after page_started() returned @started is published, or until
 * @deadline_ns (CLOCK_MONOTONIC); sleeps on @wakeup, which must be the caller's for the socket of
 * @cell. 0, -ETIMEDOUT.
 */
int page_wait(const struct page_cell *cell, const struct page_wakeup *wakeup, uint32_t started,
	uint64_t deadline_ns);
