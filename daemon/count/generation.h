/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A generation: the time in which counts go on without a gap, and all that makes them. It has the
 * open boxes of a plan, the page that shows their totals, and the ledger from which the next
 * process continues both.
 *
 * The service manager keeps the descriptors of all three. A process that starts resumes what it
 * finds with the manager, or begins a new generation. Totals of two generations are never
 * subtracted from each other.
 */
#pragma once

#include <stdbool.h>

#include "daemon/base/fault.h"
#include "daemon/base/fdstore.h"
#include "daemon/count/box.h"
#include "daemon/count/ledger.h"
#include "daemon/count/publication.h"
#include "daemon/plan/plan.h"

struct generation {
	const struct plan *plan; /* borrowed */
	struct box *boxes;       /* parallel to plan->boxes; owned */
	struct publication publication;
	struct ledger ledger;
	bool resumed;        /* a process before began it */
	unsigned n_reopened; /* boxes of a resumed generation that had to be opened anew */
};

/* Begins with closed boxes, no page and no ledger. -ENOMEM. */
int generation_init(struct generation *generation, const struct plan *plan);

/*
 * Resumes the generation in @store, if it is one of the same plan: boxes that still count are
 * adopted, and the others opened anew (their values are then flagged as reset). False: there is
 * none, and no box is open; if @store has something that cannot be used, *@ret_why says why, else
 * that is "". @store is empty after either.
 */
bool generation_resume(struct generation *generation, struct fdstore *store, struct fault *ret_why);

/* Opens all boxes of a new generation. */
void generation_open(struct generation *generation);

/* How many boxes are open; each of the others has its .error. */
unsigned generation_count_open(const struct generation *generation);

/* Gives new boxes that share their counters a moment to show that they count at all; takes up to
 * BOX_SETTLE_MS + BOX_ROTATION_MS. */
void generation_settle(struct generation *generation);

/* Makes page and ledger of a new generation, whose boxes are open. Errors of publication_init(),
 * ledger_init(). */
int generation_publish(struct generation *generation, struct fault *fault);

/*
 * Hands the service manager what it does not have yet: all of a new generation, and boxes that were
 * opened anew. To be called before the first sweep. -ENOTCONN: there is no manager; errors of
 * fdstore_keep().
 */
int generation_keep(const struct generation *generation);

/*
 * Puts another page in the place of the generation's, for the job of @owner; the manager keeps it,
 * too. Nobody writes into it yet. *@ret_old is the caller's to retire, once no reader writes it any
 * more; then comes generation_forget_page(), and not before: a process that is killed in between
 * leaves the old page to the next one to retire. Errors of publication_copy(), fdstore_keep().
 */
int generation_replace_page(
	struct generation *generation, uint32_t owner, struct publication *ret_old);
void generation_forget_page(const struct generation *generation);

/* Closes and frees all of it; for every generation_init(), a failed one too. */
void generation_done(struct generation *generation);
