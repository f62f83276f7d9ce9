/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bounds on tables. When a bound is reached, a new table replaces an ended one. At a bound for
 * one uid, that is a table of this uid. At a bound that several uids share, it is a table of the
 * uid that has the most of those with an ended table, and at least as many as the uid that asks. So
 * a flood of one user's tables never removes a table of a user that has fewer.
 */
#pragma once

#include "daemon/teams/team-list.h"

enum {
	TEAMS_OF_ACCOUNT_MAX = 128, /* tables of all uids of an account */
	TEAMS_OF_UID_MAX = 32,
	TEAMS_ALIVE_MAX = 16, /* of a uid */
};

#define TEAMS_BYTES_OF_UID_MAX     (UINT64_C(512) << 20) /* memory in use */
#define TEAMS_BYTES_OF_ACCOUNT_MAX (UINT64_C(2) << 30)

/*
 * Drops ended tables until there is room for another table of @uid, which belongs to @account.
 * -EDQUOT: @uid has TEAMS_ALIVE_MAX tables alive, or there is no room and no table may be dropped.
 */
int team_room_make(struct team_list *list, uint32_t uid, uint64_t account, uint64_t now_ns);

/*
 * Drop ended tables while the tables of a uid or of an account take more memory than they may. A
 * table can be filled long after it was made, so it is not enough to check when a new table is
 * asked for. The first checks the account of @uid, the second all accounts.
 */
void team_room_enforce_uid(struct team_list *list, uint32_t uid, uint64_t now_ns);
void team_room_enforce(struct team_list *list, uint64_t now_ns);
