/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This process as a member of a table. A member holds a classic record lock on the byte of the
 * memfd that has its slot's number. The kernel releases the lock when the process ends or executes
 * another program. A forked child does not inherit it. Any process can query it. So the lock shows
 * who is alive, also between containers, where process ids mean nothing. A mutex could not do that,
 * because members use different C libraries.
 *
 * Closing any descriptor of the memfd releases all locks of the process on it, also those of
 * another copy of this library. So the library closes no such descriptor while the process holds a
 * lock: see team.h.
 */
#pragma once

#include <sys/types.h>

#include "client/region/table.h"

enum { MEMBER_ALONE = -1 }; /* instead of a descriptor: the table is private to this process */

struct interval_room;

struct member {
	struct table *table; /* borrowed */
	int fd;              /* borrowed */
	dev_t device;        /* of fd */
	ino_t inode;
	bool is_own;      /* the table was made by this process or a parent, not by uncored */
	const char *file; /* borrowed; of an own table that is a file with a name; else NULL */
	unsigned slot;
	enum table_phase phase; /* TABLE_JOINED or TABLE_OBSERVES */
	uint64_t state;         /* the slot's state while this member has it */

	struct interval_room *room; /* owned, by interval.c; NULL: not used yet */
};

/* Has the table never had another member? A forked child may become one. */
static inline bool member_is_alone(const struct member *member)
{
	return member->fd == MEMBER_ALONE ||
	       (member->is_own && LOAD(member->table->header.n_joined) <= 1);
}

/*
 * Takes a slot. @phase: TABLE_JOINED, or TABLE_OBSERVES to take one reading for the team: such a
 * process does not count as one of the team, and the last member that leaves does not wait for it.
 * -ENOSPC: living members hold all slots, or, for an observer, each slot was a member's; errno of
 * fcntl(2).
 */
int member_join(struct member *ret, struct table *table, int fd, enum table_phase phase);

/* Is @fd a descriptor of this member's table? */
bool member_has_file(const struct member *member, int fd);

/* Reserves room for a part of the table if that is a file of this process (own-table.h). */
bool member_has_room(const struct member *member, const void *part, size_t size_bytes);

/* -EBADF with a sentence: the program closed the descriptor, so others take this member for dead,
 * or may do so. */
int member_check(const struct member *member);

/* Does the slot still belong to this member, although it may have died or left? */
bool member_has_slot(const struct member *member);

/* Names this member, from its join on, where it claims something of the table; never 0. */
uint64_t member_claim(const struct member *member);

/* Is the member that wrote @claim still there? If not, marks it as dead. */
bool member_holds_claim(const struct member *member, uint64_t claim);

/* Marks the members that have died. Returns how many others are alive; 0 if this cannot be known
 * any more. */
unsigned member_look_for_dead(const struct member *member);

/* Is it time to look for the dead? True once a second, for one of all members. */
bool member_should_look(const struct member *member, uint64_t now_ns);

/* As member_look_for_dead(), for a process that is not a member. */
unsigned member_count_living(struct table *table, int fd);

/* Does any process hold a slot in the table of @fd? */
bool member_is_any_there(int fd);

/* Does this process hold a slot there, by this or another copy of the library? */
bool member_is_this_process(int fd);

/* Ends the membership. The counts of the member stay in the table. */
void member_leave(struct member *member);

/* Releases the lock of the slot, after member_leave(): the process has left the team for good. */
void member_let_go(const struct member *member);
