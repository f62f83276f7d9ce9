/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Claims: all rings of a user that wait for one sweep are one claim. The functions here admit
 * claims to a sweep, wake the waiters after it, and charge the users for it.
 *
 * A claim waits for budget and intervals (budget.h). Meanwhile the user's struct page_wakeup says
 * until when, and the library does not ring. The reader wakes waiters in portions, with the lock
 * free in between, and begins with the users that have few waiters. Each user alone pays for waking
 * its clients.
 *
 * All functions are called with the doorbells' lock held, in this order in each turn of the reader.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/read/doorbells.h"

enum { CLAIMS_PORTION = 64 }; /* waiters woken in one go */

/* Asks the budget for all claims. True: one is admitted, so there must be a sweep. */
bool claims_admit(struct doorbells *doorbells, uint64_t now_ns);

/*
 * To be called before the sweep. Adds all other claims whose users can pay a part. One or two
 * clients of a user may spin for @spin_ns when they wait next: on a busy machine, a client that
 * sleeps may get its CPU back a tick later.
 */
void claims_join(struct doorbells *doorbells, uint64_t now_ns, uint32_t spin_ns);

/*
 * After the sweep: wakes a portion of the waiters at doorbells.busy[@i], if they are answered or
 * half woken. @many: only if the last answer woke CLAIMS_PORTION or more; else only if it woke
 * fewer.
 */
void claims_wake(struct doorbells *doorbells, unsigned i, bool many);

/* After the sweep: keeps it for the users that it answers and that want it kept. */
void claims_keep(struct doorbells *doorbells, const struct page_sweep *sweep);

/* Ends the turn, which cost @cost_ns, with a sweep that began at @begin_ns (0: without a sweep).
 * Tells the users of claims that still wait how long to wait. */
void claims_charge(
	struct doorbells *doorbells, uint64_t begin_ns, uint64_t cost_ns, uint64_t now_ns);

/* The time until the claims must be looked at again if nobody rings, in ns; negative: never. */
int64_t claims_due_ns(const struct doorbells *doorbells, uint64_t now_ns);
