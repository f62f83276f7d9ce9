/* SPDX-License-Identifier: BSD-3-Clause */
/* subuid(5): which ranges of subordinate user ids belong to whom. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum subids_answer { SUBIDS_NOBODY, SUBIDS_ONE, SUBIDS_SEVERAL };

/*
 * Finds the owner of @uid in @file, which has lines "owner:first:count"; an owner is a name or a
 * number, and
 * @find_uid says which number a name is (false: nobody knows, so it may be anybody, and counts as
 * several). Lines that are none are passed over. *@ret_owner is set for SUBIDS_ONE.
 */
enum subids_answer subids_owner_of(FILE *file, uint32_t uid,
	bool (*find_uid)(const char *name, uint32_t *ret), uint32_t *ret_owner);
