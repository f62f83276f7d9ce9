/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Going on where the process before ended: with its page, its ledger and its counters, which the
 * service manager kept. What was handed to the manager before anybody was served is a generation.
 */
#pragma once

#include <stdbool.h>

#include "daemon/base/fault.h"
#include "daemon/base/fdstore.h"
#include "daemon/read/counters.h"

/*
 * Takes ledger, page and counters from @store, if they are those of counters->plan: boxes that
 * still count are adopted, and the others opened anew (their values are then flagged as reset).
 * False: there is no generation to go on with, the boxes are untouched; if something was there that
 * cannot be used, @why says so, else it is "". The store is empty after either.
 */
bool resume_generation(struct counters *counters, struct fdstore *store, struct fault *why);

/*
 * Hands the manager what it does not have yet: all of a new generation, and boxes that were opened
 * anew. Before the first sweep. No manager: nothing happens. Errors of fdstore_keep().
 */
int resume_hand_over(const struct counters *counters);

/*
 * Begins another page of the same generation, for @owner, which the manager keeps, too. Nobody
 * writes into it yet. *@ret_old is the caller's to retire, once no reader writes it any more; then
 * comes resume_forget_page(), and not before: whoever is killed in between leaves it to the next
 * process to retire. Errors of publication_copy(), fdstore_keep().
 */
int resume_replace_page(struct counters *counters, uint32_t owner, struct publication *ret_old);
void resume_forget_page(const struct counters *counters);
