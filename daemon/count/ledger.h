/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ledger: the state from which the next daemon continues the totals exactly. It is a memfd that
 * the service manager keeps (fdstore.h) and that no client ever gets.
 *
 * Each socket has a book with the result of its last sweep. A book has two copies, and one of them
 * is current. A sweep writes the other copy, makes it current with a single store, and only then
 * publishes. So wherever the daemon is killed, one copy is complete and not older than the page.
 * Its totals match the kernel's counts that it also has. The next sweep, of this process or a later
 * one, adds the counts since then exactly once.
 *
 * The ledger also identifies the counters, so that totals are never continued with other counters.
 */
#pragma once

#include <stdint.h>

#include "common/page.h"
#include "daemon/base/fault.h"
#include "daemon/count/box.h"
#include "daemon/count/shared-page.h"
#include "daemon/plan/plan.h"

enum { LEDGER_VERSION = 2 }; /* of the layout, with struct page_sweep and struct box_event in it */

/* A struct plan_use without padding and bool, so that any bytes are a valid value. */
struct ledger_use {
	uint8_t event, metric, term, subtract;
	uint32_t scale_n, scale_d;
	int32_t channel;
};

/* The counters of a box, as planned when the generation began. */
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
	uint32_t complete; /* atomic; 1: the manager has all descriptors; 0: no clients yet */
	uint64_t bytes;
	uint64_t generation[2]; /* of the page that belongs to the ledger */
	uint64_t current;       /* atomic: page number and owner together; see ledger_current() */
	uint64_t restarted_ns;  /* when a process last ended to let the next one reopen counters */
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
 * Makes a new ledger for @plan, whose @boxes (parallel to plan->boxes) were just opened, and for
 * the page of @shared_page. Errors of memfd_create(2), mmap(2).
 */
int ledger_init(struct ledger *ledger, const struct plan *plan, const struct box boxes[],
	const struct shared_page *shared_page, struct fault *fault);

/*
 * Takes over @fd (even on failure), the ledger of an earlier process. -EBADMSG: @fd is not a
 * ledger, or it is incomplete; -EPROTONOSUPPORT: the ledger has another version; -ESTALE: it is
 * about other counters than @plan. The fault says which.
 */
int ledger_adopt(struct ledger *ledger, int fd, const struct plan *plan, struct fault *fault);

/* Allows a later process to resume from the ledger. */
void ledger_complete(struct ledger *ledger);

void ledger_done(struct ledger *ledger);

/*
 * The number of the current page, and the user whose job the node runs. A single store changes
 * both, so that no process resumes with a former owner's page.
 */
struct ledger_current {
	uint32_t page;  /* from 1 */
	uint32_t owner; /* uid */
};
enum { LEDGER_NO_OWNER = UINT32_MAX, LEDGER_NAME_MAX = 32 };

struct ledger_current ledger_current(const struct ledger *ledger);
void ledger_set_current(struct ledger *ledger, struct ledger_current current);

/* The name under which the manager keeps page @number. */
void ledger_page_name(uint32_t number, char ret_name[LEDGER_NAME_MAX]);

/* The kernel's answer for box @i of the plan when the generation began: 0, or negative errno. */
int ledger_refused(const struct ledger *ledger, unsigned i);

struct ledger_book *ledger_book(const struct ledger *ledger, unsigned socket);

/* Makes the result of a sweep current: @sweep and the @n_boxes boxes of the socket. */
void ledger_commit(struct ledger_book *book, const struct page_sweep *sweep,
	const struct box boxes[], unsigned n_boxes);

/* The current sweep (all zero: none yet), and the boxes as they were after it. */
const struct page_sweep *ledger_sweep(const struct ledger_book *book);
void ledger_restore(const struct ledger_book *book, struct box ret_boxes[], unsigned n_boxes);
