/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whose a uid is. A uid that passwd knows is its own, and never another's. Of the others, one that
 * lies in the subordinate range of exactly one owner (subuid(5)) is that owner's. Ranges overlap in
 * practice, and ids of directory services lie in them; a uid that nobody knows, or that several
 * own, and one that was not looked up yet, belongs to the block of 65,536 uids around it.
 *
 * A lookup can take as long as the directory service does not answer, so threads of their own make
 * them, OWNERS_LOOKUPS_MAX at most at a time. What they found is kept for ten minutes and used for
 * as long as there is nothing newer, in memory that the service manager keeps, too: a daemon that
 * comes back while the directory is down knows what the one before knew.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/fdstore.h"

enum { OWNERS_LOOKUPS_MAX = 4 };

struct owners;

/* Takes what a process before left in @store, or begins with nothing. -ENOMEM; errno of
 * memfd_create(2), mmap(2), eventfd(2). */
int owners_new(struct fdstore *store, struct owners **ret);

/* Leaves it with the service manager. Errors of fdstore_keep(). */
int owners_keep(const struct owners *owners);

/* NULL is nothing. Returns NULL. */
struct owners *owners_free(struct owners *owners);

/* The id of the account that @uid belongs to, as far as is known; has it looked up if that is not
 * known, or not recently. */
uint64_t owners_account_of(struct owners *owners, uint32_t uid);

/* Readable when there are answers: for the event loop. */
int owners_fd(const struct owners *owners);

/* Takes an answer: that something is known now of *@ret_uid. False: there is none. */
bool owners_take_answer(struct owners *owners, uint32_t *ret_uid);
