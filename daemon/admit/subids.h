/* SPDX-License-Identifier: BSD-3-Clause */
/* subuid(5): the owners of ranges of subordinate user ids. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum subids_answer { SUBIDS_NOBODY, SUBIDS_ONE, SUBIDS_SEVERAL };

/*
 * Finds the owner of @uid in @file, which has lines "owner:first:count". An owner is a name or a
 * number; @find_uid gives the number of a name. If @find_uid returns false, the name is unknown: it
 * may stand for anybody, so it counts as several owners. Lines of any other form are skipped.
 * *@ret_owner is set for SUBIDS_ONE.
 */
enum subids_answer subids_owner_of(FILE *file, uint32_t uid,
	bool (*find_uid)(const char *name, uint32_t *ret), uint32_t *ret_owner);
