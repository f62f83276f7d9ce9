/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A daemon for tests of the client: it speaks the protocol on a private socket and counts what the
 * test can work out by hand. After sweep k, metric m of socket s is at k * FAKE_STEP * (s + 1) *
 * (m + 1); "itom" is absent.
 */
#pragma once

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/page.h"

enum {
	FAKE_SOCKETS = 2, /* unless a test wants others, at most ... */
	FAKE_SOCKETS_MAX = 8,
	FAKE_CHANNELS = 3, /* per socket */
	FAKE_STEP = 1000,
	FAKE_CLIENTS_MAX = 16,
};
enum { FAKE_PMID = 600 };
enum { FAKE_READ, FAKE_WRITE, FAKE_CLOCK, FAKE_ITOM, FAKE_METRICS };

struct fake_options {
	const char *platform;      /* NULL: "icelake-sp" */
	int refuse;                /* negative errno: answer HELLO with it */
	bool refuse_at_once;       /* ... before HELLO was read, and close */
	bool silent;               /* never answer */
	bool hang_up_once;         /* close the first connection without an answer */
	uint32_t version;          /* of WELCOME; 0: the right one */
	uint64_t extra_page_bytes; /* claimed, but not there */
	uint64_t padding_bytes;    /* there, behind the page */
	const char *report;        /* NULL: a short one */
	atomic_uint quality;       /* of dram.read; may change while it serves */
	const char *why;           /* itom is absent; NULL: "this machine has no such event" */
	bool two_tiers;            /* reads and writes of hbm in the place of clock and itom */
	bool bad_page;             /* its magic is wrong */
	bool open_ended;           /* the page could be cut while clients have it */
	bool no_wakeups;           /* WELCOME comes without them */
	bool short_wakeups;        /* there is nothing in their memory */
	uint32_t n_sockets;        /* 0: FAKE_SOCKETS */
	unsigned deaf_after;       /* sweeps; then it lets doorbells ring */
	unsigned refuse_after;     /* sweeps; then it closes all connections, and refuses others */
	unsigned delay_ms;         /* before each answer */
	unsigned sweep_ms;         /* before a sweep that a doorbell asks for */
	uint64_t min_interval_ns;  /* in the page; it answers at once all the same */
	bool growing;          /* the first run of a command shows 3 steps, the next 7, 11 ... */
	unsigned retire_after; /* sweeps; then a new page replaces this one, which is retired */
};

struct fake_daemon {
	struct fake_options options;
	char directory[32];
	char path[64];
	pthread_t thread;
	sem_t serving; /* its thread has begun */
	int stop, listener, page_fd, wakeups_fd;
	int doorbells[FAKE_SOCKETS_MAX];
	int clients[FAKE_CLIENTS_MAX];
	struct page_header *page;
	uint64_t page_bytes;
	uint32_t n_sockets;
	struct page_wakeup *wakeups;
	struct page_rules *rules;    /* behind them: nobody is kept out */
	struct page_header *retired; /* the page before this one, or NULL */
	atomic_bool deaf;            /* lets doorbells ring */
	atomic_uint rounds;          /* of its loop; each begins with a look at .deaf */
	atomic_uint sweeps;
	atomic_uint n_accepted; /* connections */
};

/*
 * Starts it and waits until it serves; asserts on failure. Counts with the same @generation go on.
 */
void fake_daemon_start(
	struct fake_daemon *daemon, const struct fake_options *options, uint64_t generation);

/* Starts a new daemon in the place of a stopped one, whose directory was kept. */
void fake_daemon_restart(struct fake_daemon *daemon, uint64_t generation);

/* Closes all connections; the socket's name stays until fake_daemon_done(). */
void fake_daemon_stop(struct fake_daemon *daemon);
void fake_daemon_done(struct fake_daemon *daemon);

/* Returns when it lets doorbells ring. Its loop must run. */
void fake_daemon_deafen(struct fake_daemon *daemon);

/* One sweep of @socket from the test's own thread; only while the daemon is deaf or stopped. */
void fake_daemon_sweep(struct fake_daemon *daemon, uint32_t socket);

struct page_cell *fake_daemon_cell(struct fake_daemon *daemon, uint32_t socket);
