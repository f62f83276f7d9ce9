/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Serves the requests of users for tables of teams (common/team.h), within bounds. A table belongs
 * to exactly one uid. uncored makes it, seals it and hands it out, and never maps, reads or writes
 * it: its content is a matter of the processes of that uid.
 *
 * A table is sparse. The kernel charges each of its pages to the process that touches the page
 * first, so users pay for their tables. After all members have left a table, its pages stay until
 * uncored drops the table, so the bytes of each uid are bounded, too. Pages that living processes
 * have filled are their own memory, which uncored cannot take from them. A table may be filled at
 * any time, so uncored checks regularly, and drops ended tables that exceed the bound.
 *
 * A table is *alive* while a process holds a record lock on one of its first TEAM_SLOTS_MAX bytes;
 * otherwise it has *ended*. A table that nobody has locked yet counts as ended. When uncored asks
 * for locks, or closes the table, the kernel walks the list of all locks that processes hold on it.
 * A user can make that list long: 32768 locks took 10 s to set, and 0.7 ms to walk. If asking takes
 * too long for a table, the table counts as ended and is not asked again.
 *
 * team-room.h has the bounds on tables. The service manager keeps the tables over restarts
 * (team-list.h).
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
