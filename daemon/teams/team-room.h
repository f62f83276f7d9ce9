/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bounds on tables. Where a bound is reached, a new table takes the place of an ended one: of
 * the same uid, or, at the bounds that several uids share, of the uid that has the most. So a flood
 * of one user's tables never takes the table of a user that has fewer.
 */
#pragma once

#include "daemon/teams/team-list.h"

enum {
	TEAMS_OF_ACCOUNT_MAX = 128, /* tables of all uids of an account */
	TEAMS_OF_UID_MAX = 32,
	TEAMS_ALIVE_MAX = 16, /* of a uid */
};

#define TEAMS_BYTES_OF_UID_MAX     (UINT64_C(512) << 20) /* that tables really take */
#define TEAMS_BYTES_OF_ACCOUNT_MAX (UINT64_C(2) << 30)

/* Lets go of ended tables until there is room for another of @uid, which belongs to @account.
 * -EDQUOT: there is none, and the tables that might go are alive. */
int team_room_make(struct team_list *list, uint32_t uid, uint64_t account, uint64_t now_ns);

/*
 * Lets go of ended tables while the tables of a uid or of an account take more memory than they
 * may. A table can be filled long after it was made, so asking for another one is not the only
 * time to look. The first is for the account that @uid belongs to, the second for all.
 */
void team_room_enforce_uid(struct team_list *list, uint32_t uid, uint64_t now_ns);
void team_room_enforce(struct team_list *list, uint64_t now_ns);
