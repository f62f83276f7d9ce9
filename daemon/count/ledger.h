/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ledger: what must outlive the daemon for its totals to go on exactly. A memfd that the
 * service manager keeps (store.h) and that no client ever gets.
 *
 * A book per socket holds what the last sweep left, in two copies. A sweep writes the one that does
 * not count, makes it count with a single store, and only then publishes. So wherever the daemon is
 * killed, one copy is whole and not behind the page; the totals in it belong to the kernel's counts
 * beside them, and what these counted since is added once, by the next sweep of whatever process.
 *
 * The rest never changes: which counters these are, so that totals are never continued with others.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/page.h"
#include "daemon/base/fault.h"
#include "daemon/count/box.h"
#include "daemon/count/publication.h"
#include "daemon/plan/plan.h"

enum { LEDGER_VERSION = 1 }; /* of the layout, with struct page_sweep and struct box_event in it */

/* A struct plan_use without padding and bool, so that any bytes are some value of it. */
struct ledger_use {
	uint8_t event, metric, term, subtract;
	uint32_t bytes;
	int32_t channel;
};

/* Which counters a box has: what it was planned to be when the generation began. */
struct ledger_identity {
	char pmu[PMU_NAME_MAX];
	uint32_t type, socket;
	int32_t refused; /* negative errno: the kernel did not open it then; it stays closed */
	uint32_t n_events, n_uses;
	struct ledger_use uses[PLAN_EVENTS_MAX];
	uint64_t configs[PLAN_EVENTS_MAX][3];
};

struct ledger_header {
	uint64_t magic;
	uint32_t version;
	uint32_t complete; /* atomic, 1: the manager has all; before that nobody was served */
	uint64_t bytes;
	uint64_t generation[2]; /* of the page that goes with it */
	uint64_t current;       /* atomic: page number and owner together; see ledger_current() */
	uint64_t restarted_ns;  /* see ledger_restarted_ns() */
	uint32_t n_sockets, n_boxes;
	char platform[PAGE_NAME_MAX];
	uint32_t whys[PAGE_SOCKETS_MAX][PAGE_METRICS_MAX]; /* text of each absent metric */
};

struct ledger_book;

struct ledger {
	int fd;
	struct ledger_header *header;
};

/*
 * A new one for @plan, whose @boxes (parallel to plan->boxes) were just opened, and for the page of
 * @publication.
 * Errors of memfd_create(2), mmap(2).
 */
int ledger_init(struct ledger *ledger, const struct plan *plan, const struct box boxes[],
	const struct publication *publication, struct fault *fault);

/*
 * Takes over @fd (also if it fails), the ledger of a process before. -EBADMSG: it is none, or is
 * not whole; -EPROTONOSUPPORT: another version's; -ESTALE: it is about other counters than @plan.
 * The fault says it.
 */
int ledger_adopt(struct ledger *ledger, int fd, const struct plan *plan, struct fault *fault);

/* From now on a later process may go on with it. */
void ledger_complete(struct ledger *ledger);
bool ledger_is_complete(const struct ledger *ledger);

/* The page that belongs to it: for publication_adopt(). Borrowed. */
struct publication_origin ledger_origin(const struct ledger *ledger);

/* When a process last ended so that the next one opens counters anew; CLOCK_MONOTONIC, 0: none. */
uint64_t ledger_restarted_ns(const struct ledger *ledger);
void ledger_note_restart(struct ledger *ledger, uint64_t now_ns);

void ledger_done(struct ledger *ledger);

/*
 * Which page counts, as the manager keeps it, and whose job the node runs: one changes only with
 * the other, so that no former owner's page is gone on with.
 */
struct ledger_current {
	uint32_t page;  /* from 1 */
	uint32_t owner; /* uid */
};
enum { LEDGER_NO_OWNER = UINT32_MAX, LEDGER_NAME_MAX = 32 };

struct ledger_current ledger_current(const struct ledger *ledger);
void ledger_set_current(struct ledger *ledger, struct ledger_current current);

/* Under which the manager keeps page @number. */
void ledger_page_name(uint32_t number, char ret_name[LEDGER_NAME_MAX]);

/* What the kernel said when the generation began about box @i of the plan: 0, or negative errno. */
int ledger_refused(const struct ledger *ledger, unsigned i);

struct ledger_book *ledger_book(const struct ledger *ledger, unsigned socket);

/* Makes what a sweep found count: @sweep and the @n_boxes boxes of the socket. */
void ledger_commit(struct ledger_book *book, const struct page_sweep *sweep,
	const struct box boxes[], unsigned n_boxes);

/* What counts: the sweep (all zero: there was none yet), and what boxes there were then. */
const struct page_sweep *ledger_sweep(const struct ledger_book *book);
void ledger_restore(const struct ledger_book *book, struct box ret_boxes[], unsigned n_boxes);
