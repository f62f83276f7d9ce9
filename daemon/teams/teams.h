/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Serves the requests of users for tables of teams (common/team.h), as TABLES OF TEAMS in
 * uncored(8) and uncored-security(7) says: within bounds (team-room.h), and over restarts
 * (team-list.h).
 *
 * A table is *alive* while a process holds a record lock on one of its first TEAM_SLOTS_MAX bytes;
 * otherwise it has *ended*. A table that nobody has locked yet counts as ended. To ask for locks,
 * and to close the table, the kernel walks the list of all locks that processes hold on it, which
 * a user can make long.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/teams/team-list.h"

#define TEAMS_KEPT_S 3600 /* how long uncored keeps a table after it found it ended */
#define TEAMS_LOOK_S 60   /* how often it checks which have ended, and their memory */

/* A request of a uid; see struct wire_team. */
struct teams_wish {
	uint32_t uid;
	uint64_t account; /* of the uid */
	const char *name;
	uint32_t layout, run;
	uint64_t bytes;
};

/* 1: *ret is a new table; 0: *ret existed already. -EINVAL: bytes or run are out of range; -EDQUOT:
 * there is no room, and no table that may be dropped; errno of memfd_create(2), ftruncate(2). */
int teams_join(struct team_list *list, const struct teams_wish *wish, uint64_t now_ns,
	const struct team **ret);

/* Notes which other tables of its uid are alive now, as @team is. Runs of one name follow each
 * other. */
void teams_note_others(struct team_list *list, const struct team *team, uint64_t now_ns);

/* Drops the table with uid, name, layout and run of @wish. False: there is none. */
bool teams_forget(struct team_list *list, const struct teams_wish *wish);

/* The number of tables that are alive. */
unsigned teams_count_alive(struct team_list *list, uint64_t now_ns);

/*
 * Drop tables whose time is over, and tables that take too much memory. The first checks all
 * tables, and returns when to do so again: after TEAMS_LOOK_S, or sooner. The second checks the
 * tables of @uid.
 */
uint64_t teams_review(struct team_list *list, uint64_t now_ns);
void teams_review_uid(struct team_list *list, uint32_t uid, uint64_t now_ns);
