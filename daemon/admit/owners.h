/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The account of each uid. A uid that passwd knows is an account itself, never part of another. Any
 * other uid that lies in the subordinate range of exactly one owner (subuid(5)) belongs to that
 * owner. Ranges overlap in practice, and ids of directory services lie in them. So a uid that has
 * no known owner, has several, or was not looked up yet, belongs to the block of 65,536 uids around
 * it.
 *
 * A lookup lasts until the directory service answers, so separate threads make the lookups, at most
 * OWNERS_LOOKUPS_MAX at a time. A result is looked up again after ten minutes, and used until there
 * is a newer one. The service manager keeps the results, too: a daemon that restarts while the
 * directory is down knows what the previous process knew.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "daemon/base/fdstore.h"

enum { OWNERS_LOOKUPS_MAX = 4 };

struct owners;

/* Takes the results that an earlier process left in @store, or begins with none. -ENOMEM; errno of
 * memfd_create(2), mmap(2), eventfd(2). */
int owners_new(struct fdstore *store, struct owners **ret);

/* Leaves the results with the service manager. Errors of fdstore_keep(). */
int owners_keep(const struct owners *owners);

/* @owners may be NULL. Returns NULL. */
struct owners *owners_free(struct owners *owners);

/* The id of the account that @uid belongs to, as far as it is known. Starts a lookup of @uid if
 * there was no recent one. */
uint64_t owners_account_of(struct owners *owners, uint32_t uid);

/* For the event loop: a descriptor that is readable when there are answers. */
int owners_fd(const struct owners *owners);

/* Takes an answer, which is about *@ret_uid. False: there is none. */
bool owners_take_answer(struct owners *owners, uint32_t *ret_uid);

/* --- subuid(5): the owners of ranges of subordinate user ids --- */

enum subids_answer { SUBIDS_NOBODY, SUBIDS_ONE, SUBIDS_SEVERAL };

/*
 * Finds the owner of @uid in @file, which has lines "owner:first:count". An owner is a name or a
 * number; @find_uid gives the number of a name. If @find_uid returns false, the name is unknown: it
 * may stand for anybody, so it counts as several owners. Lines of any other form are skipped.
 * *@ret_owner is set for SUBIDS_ONE.
 */
enum subids_answer subids_owner_of(FILE *file, uint32_t uid,
	bool (*find_uid)(const char *name, uint32_t *ret), uint32_t *ret_owner);
