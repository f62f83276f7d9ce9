/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A generation: a period in which counts continue without a gap, and the objects that produce them.
 * It has the open boxes of a plan, the page that shows their totals, and the ledger from which the
 * next process continues boxes and page.
 *
 * The service manager keeps the descriptors of all three. A new process resumes the generation that
 * the manager kept, or begins a new one. Totals of two generations are never subtracted from each
 * other.
 */
#pragma once

#include <stdbool.h>

#include "daemon/base/fault.h"
#include "daemon/base/fdstore.h"
#include "daemon/count/box.h"
#include "daemon/count/ledger.h"
#include "daemon/count/shared-page.h"
#include "daemon/plan/plan.h"

struct generation {
	const struct plan *plan; /* borrowed */
	struct box *boxes;       /* parallel to plan->boxes; owned */
	struct shared_page shared_page;
	struct ledger ledger;
	bool resumed;        /* an earlier process began it */
	unsigned n_reopened; /* boxes of a resumed generation that had to be opened anew */
};

/* Begins with closed boxes, no page and no ledger. -ENOMEM. */
int generation_init(struct generation *generation, const struct plan *plan);

/*
 * Resumes the generation in @store, if it belongs to the same plan. Adopts the boxes that still
 * count, and opens the others anew (their values are then flagged as reset). False: no generation
 * is resumed, and no box is open; *@ret_why says why the content of @store cannot be used, or is ""
 * if there is none. @store is empty in both cases.
 */
bool generation_resume(struct generation *generation, struct fdstore *store, struct fault *ret_why);

/* Opens all boxes of a new generation. */
void generation_open(struct generation *generation);

/* The number of open boxes. The others have their error in .error. */
unsigned generation_count_open(const struct generation *generation);

/* Waits until new flexible groups have had a turn on the PMU, and calls box_settle() for each.
 * Takes up to BOX_SETTLE_MS + BOX_ROTATION_MS. */
void generation_settle(struct generation *generation);

/* Makes the page and the ledger of a new generation. Its boxes must be open. Errors of
 * shared_page_init(), ledger_init(). */
int generation_publish(struct generation *generation, struct fault *fault);

/*
 * Hands the service manager the descriptors that it does not have yet: all of a new generation, and
 * boxes that were opened anew. Call it before the first sweep. -ENOTCONN: there is no manager;
 * errors of fdstore_keep().
 */
int generation_keep(const struct generation *generation);

/*
 * Replaces the generation's page with a new page, for the job of @owner, and hands it to the
 * manager. Nobody writes into the new page yet. The caller retires *@ret_old once no reader writes
 * it any more, and only then calls generation_forget_page(): if the process is killed in between,
 * the next process retires the old page. Errors of shared_page_copy(), fdstore_keep().
 */
int generation_replace_page(
	struct generation *generation, uint32_t owner, struct shared_page *ret_old);
void generation_forget_page(const struct generation *generation);

/* Closes and frees everything. Call it after every generation_init(), even a failed one. */
void generation_done(struct generation *generation);

/*
 * *@ret_ratio is the value of @metric divided by the value of its check on @socket, since the
 * generation began. Both values are rounded down to @quantum. 1e9 stands for a check that is
 * 0 while the metric counts. False: there is no ratio, because @metric has no check, or one of the
 * two values is incomplete, or both are still small.
 */
bool agreement_find(const struct generation *generation, unsigned socket, unsigned metric,
	uint32_t quantum, double *ret_ratio);
