/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What users want of the tables of teams (common/team.h), within bounds. A table belongs to
 * exactly one uid. uncored makes it, seals it and hands it out, and never maps, reads or writes it:
 * what it holds is between the processes of that uid.
 *
 * A table is sparse. The kernel charges each of its pages to the process that touches the page
 * first, so users pay for their tables. The pages of a table that all members left stay until
 * uncored lets go of it, so the bytes of each uid have a bound, too. What living processes have
 * filled is their own memory, which uncored cannot take from them. It goes on looking, because a
 * table may be filled at any time, and drops ended tables that are beyond the bound.
 *
 * A table is *alive* while a process holds a record lock on one of its first TEAM_SLOTS_MAX bytes;
 * else it has *ended*. A table that nobody has locked yet counts as ended. To ask for locks, and to
 * close the table, the kernel walks the list of all locks that processes hold on it. A user can
 * make that list long: 32768 locks took 10 s to set, and 0.7 ms to walk. A table that takes too
 * long to ask counts as ended, and is not asked again.
 *
 * Where a bound is reached, a new table takes the place of an ended one: of the same uid, or, at
 * the bounds that several uids share, of the uid that has the most. So a flood of one user's tables
 * never takes the table of a user that has fewer.
 * The service manager keeps the tables over restarts (team-list.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/teams/team-list.h"

#define TEAMS_KEPT_S   3600 /* an ended table, since uncored found it ended */
#define TEAMS_LOOK_S   600  /* after which uncored looks again which tables have ended */
#define TEAMS_MEMORY_S 60   /* after which it looks again how much memory they take */

/* What a uid wants; see struct wire_team. */
struct teams_wish {
	uint32_t uid;
	uint64_t account; /* of the uid */
	const char *name;
	uint32_t layout, run;
	uint64_t bytes;
};

/*
 * 1: *ret is a new table; 0: it was there. -EINVAL: bytes or run are out of range; -EDQUOT: there
 * is no room, and no table that may be let go; errno of memfd_create(2), ftruncate(2).
 */
int teams_join(struct team_list *list, const struct teams_wish *wish, uint64_t now_ns,
	const struct team **ret);

/* Lets go of the table with uid, name, layout and run of @wish. False: there is none. */
bool teams_forget(struct team_list *list, const struct teams_wish *wish);

/* Looks how many are alive. */
unsigned teams_count_alive(struct team_list *list, uint64_t now_ns);

/*
 * Looks at the tables, all or those of @uid, and lets go of those whose time is over, and of those
 * that take too much memory. The first returns when to do so again: after TEAMS_MEMORY_S, or
 * sooner.
 */
uint64_t teams_review(struct team_list *list, uint64_t now_ns);
void teams_review_uid(struct team_list *list, uint32_t uid, uint64_t now_ns);
