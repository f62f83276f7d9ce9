/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The team of this process: the table that it shares with the other processes of its job step, from
 * its first region until its end. A process without a job step makes a table itself (own-table.h),
 * and shares it with the children that it forks: the last of them that ends reports.
 *
 * A team that ended stays ended: the next process with its name begins *run* 2, with a new table.
 * The word header.ending of a table is 0 while the run is open. A member that has left, and may be
 * the last one, sets it to ENDING with a unique number, checks whether any member is alive, and
 * sets it to ENDED, or back to 0. A process that joins reads the word after it has taken its slot,
 * so one of the two sees the other. The leaving member keeps the lock of its slot until then. This
 * matters because a process that joins and finds no slot locked ends the run in the same way: it
 * assumes that all members were killed.
 */
#pragma once

#include "client/libuncore/team-call.h"
#include "client/region/member.h"

struct team {
	struct table *table;    /* owned */
	struct team_table kept; /* as received from uncored, or only .fd; -1: private */
	struct member member;
	char *file;  /* name of the table's file (own-table.h), owned with the table; NULL: none */
	pid_t maker; /* this process or a parent, which made the table; 0: uncored has it */
	char step[TEAM_NAME_BYTES];          /* name of the job step, also if alone; "": none */
	char why_alone[TABLE_FAILURE_BYTES]; /* why alone despite a job step, a sentence */
};

/*
 * Joins the team of the job step, or makes one of this process alone. In a forked child @parents is
 * the parent's: the child joins its table if uncored does not have it, and else gives it up. NULL:
 * the parent had none. -ENOMEM, with a sentence.
 */
int team_begin(struct team *ret, struct team *parents);

/* Leaves the team. True: this was the last member, and the run is over. It is alive to uncored
 * until member_let_go(), which must come after the report. */
bool team_end(struct team *team);

/*
 * Frees the memory of a table that has been reported. uncored keeps its header, which tells the
 * next process of this name to begin another run.
 */
void team_release_table(const struct team *team);

/* Closes the descriptor, unless this process holds a slot in the table: closing would release the
 * lock. */
void team_let_go(struct team_table *kept);

/* In a forked child: releases its copies of the parent's mapping and descriptor. */
void team_disown(struct team *parents);
