/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The page in the daemon: a sealed memfd, mapped for writing here, handed out read-only.
 *
 * Its mode is 0444 and clients get a descriptor that was reopened O_RDONLY, so neither mmap(2) nor
 * mprotect(2) nor a reopen through /proc gives them a way to write. Seals: SHRINK, GROW, SEAL. Not
 * FUTURE_WRITE: it would lock out a restarted daemon, which must map the page for writing again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/page.h"
#include "daemon/base/fault.h"
#include "daemon/plan/plan.h"

struct shared_page {
	int write_fd; /* never leaves the process */
	int read_fd;  /* for clients */
	struct page_header *header;
	uint32_t whys[PAGE_SOCKETS_MAX][PAGE_METRICS_MAX]; /* text of each absent metric */
};

/* The generation that the page of an earlier process must have, and the ledger's texts of absent
 * metrics; both borrowed. */
struct shared_page_origin {
	const uint64_t *generation;               /* two words */
	const uint32_t (*whys)[PAGE_METRICS_MAX]; /* as shared_page.whys */
};

/* Makes the page of @plan, with a new generation and empty cells. Errors of memfd_create(2),
 * mmap(2), getrandom(2). */
int shared_page_init(struct shared_page *shared_page, const struct plan *plan, struct fault *fault);

/*
 * Takes over @fd (even on failure), the page of an earlier process. The page must have the
 * generation of @origin and the tables of @plan; the CPUs that read the counters are updated from
 * @plan. -EBADMSG, -EPROTONOSUPPORT: as page_check(); -ESTALE: another machine or generation. The
 * fault says which.
 */
int shared_page_adopt(struct shared_page *shared_page, int fd, const struct plan *plan,
	const struct shared_page_origin *origin, struct fault *fault);

/* Makes another page with the same generation and tables, and with empty cells. Errors of
 * shared_page_init(). */
int shared_page_copy(const struct shared_page *from, struct shared_page *ret);

/* Copies the cells of @from. No reader may write them during the copy. */
void shared_page_copy_cells(const struct shared_page *from, struct shared_page *to);

/*
 * Tells clients that still read the page that nobody writes it any more. Wakes nobody: waiters
 * check the page from time to time. shared_page_retire_fd() is for a descriptor that may be a page,
 * of any version.
 */
void shared_page_retire(struct shared_page *shared_page);
void shared_page_retire_fd(int fd);

/* Is @fd the memory of this page? */
bool shared_page_has(const struct shared_page *shared_page, int fd);

void shared_page_done(struct shared_page *shared_page);

/* Publishes the number of clients, and of requests and connections that were refused so far. */
void shared_page_tell_clients(
	struct shared_page *shared_page, uint64_t n_clients, uint64_t n_refused);

/* Publishes the longest time by which the site's intervals may delay a ring. */
void shared_page_tell_hold(struct shared_page *shared_page, uint64_t hold_ns);
