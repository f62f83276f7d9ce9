/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One socket's part of a generation, and its sweeps. A sweep reads all boxes of the socket in one
 * go, sums up their counts, and writes the totals to the ledger and then to the socket's cell of
 * the page.
 *
 * One thread makes the sweeps of a socket.
 */
#pragma once

#include "common/page.h"
#include "daemon/count/box.h"
#include "daemon/count/generation.h"
#include "daemon/count/ledger.h"
#include "daemon/count/snapshot.h"
#include "daemon/count/tally.h"

struct sweep {
	unsigned socket;
	struct box *boxes; /* of this socket; borrowed */
	unsigned n_boxes;
	struct snapshot snapshot; /* empty: each box takes a read(2) */
	unsigned n_by_program;    /* boxes of the last sweep that the program read */
	struct tally tally;       /* with the result of the last sweep */
	struct ledger_book *book; /* borrowed */
	struct page_header *page; /* borrowed */
	struct page_cell *cell;   /* in .page */
};

/*
 * Continues from the last sweep of @socket in the ledger of @generation, if there is one.
 * @generation must live as long as the sweep. 0; -ENOMEM.
 */
int sweep_init(struct sweep *sweep, const struct generation *generation, unsigned socket);

void sweep_done(struct sweep *sweep);

void sweep_make(struct sweep *sweep);

/* The result of the last sweep. */
static inline const struct page_sweep *sweep_last(const struct sweep *sweep)
{
	return &sweep->tally.sweep;
}

/* Publishes into another page with the same tables, from the next sweep on. */
void sweep_set_page(struct sweep *sweep, struct page_header *page);

/* Shows in the page which CPU reads the counters. */
void sweep_tell_cpu(struct sweep *sweep, int cpu);

/* The number, on this socket, of a box that no longer counted at the last sweep; -1: none. */
int sweep_find_stopped(const struct sweep *sweep);
