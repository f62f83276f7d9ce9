/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The team of this process: the table that it shares with the other processes of its job step, from
 * the first region that it begins until it ends. A process alone is a team of one.
 *
 * A team that ended is over: the next process of its name begins *run* 2, with a table of its own.
 * The word header.ending of a table is 0 while it is open. A member that has left, and may be the
 * last one, sets it to ENDING with a number of its own, looks whether anybody lives, and sets it to
 * ENDED, or to 0 again. A process that joins looks at it after it has taken its slot: one of both
 * sees the other. The member holds its place until then, because a process that joins and finds no
 * place held ends the run in the same way: its members were all killed.
 */
#pragma once

#include "client/libuncore/team-call.h"
#include "client/region/member.h"

struct team {
	struct table *table;    /* owned */
	struct team_table kept; /* as uncored handed it out; .fd -1: of this process alone */
	struct member member;
	char step[TEAM_NAME_BYTES]; /* the job step's name, also of a process alone; "": it has none
				     */
	char why_alone[TABLE_FAILURE_BYTES]; /* a sentence, where there is a job step all the same
					      */
};

/* Joins the team of the job step, or makes one of this process alone. -ENOMEM, with a sentence. */
int team_begin(struct team *ret);

/* Leaves. True: nobody else is in the team, and nobody will be. */
bool team_end(struct team *team);

/*
 * The team was reported: gives back the memory of its table. uncored keeps the rest, by which the
 * next process of this name knows that it begins another run.
 */
void team_release_table(const struct team *team);

/* Closes the descriptor, unless this process holds a place in the table: that would go, too. */
void team_let_go(struct team_table *kept);

/* In a forked child: gives up its copies of what is the parent's. */
void team_disown(struct team *parents);
