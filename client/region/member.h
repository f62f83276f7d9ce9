/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This process as a member of a table. While it is one, it holds a classic record lock on the byte
 * of the memfd that has its slot's number. The kernel takes the lock away when the process ends or
 * executes another program, a forked child does not inherit it, and anybody can ask for it: so it
 * tells who lives, also between containers, where process ids tell nothing. A mutex could not:
 * members come with different C libraries.
 *
 * To close any descriptor of the memfd gives up all locks of the process on it, also those of
 * another copy of this library. So the library closes none while the process holds a lock: team.h.
 */
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include "client/region/table.h"

enum { MEMBER_ALONE = -1 }; /* in place of a descriptor: the table is of this process alone */

struct member {
	struct table *table; /* borrowed */
	int fd;              /* borrowed */
	dev_t device;        /* of fd */
	ino_t inode;
	unsigned slot;
	uint64_t state; /* of the slot while it is this member's */

	pthread_mutex_t lock;       /* of the slot's spare record and of the draft */
	struct table_record *draft; /* owned: what the spare record becomes */
};

/* Takes a slot. -ENOSPC: all are taken by members that live; -ENOMEM; errno of fcntl(2). */
int member_join(struct member *ret, struct table *table, int fd);

/* Is @fd a descriptor of this member's table? */
bool member_has_file(const struct member *member, int fd);

/* Is the slot still this member's? Not, if the program closed the descriptor. */
bool member_is_one(const struct member *member);

/* Has nobody else the slot? It may have died or left. */
bool member_has_slot(const struct member *member);

/* -EBADF: the slot is not this member's any more. */
int member_say_none(void);

/* Does the member of this slot live? If not, marks it. */
bool member_lives(const struct member *member, unsigned slot);

/* Marks the members that have died. Returns how many others live; 0 if that cannot be known any
 * more. */
unsigned member_look_for_dead(const struct member *member);

/* Is it time to? True once a second, for one of all members. */
bool member_should_look(const struct member *member, uint64_t now_ns);

/* As member_look_for_dead(), for a process that is no member. */
unsigned member_count_living(struct table *table, int fd);

/* Does any process hold a place in the table of @fd? */
bool member_is_any_there(int fd);

/* Does this one, by this copy of the library or another? */
bool member_is_this_process(int fd);

/* Counts as a member no more; what it counted stays in the table. */
void member_leave(struct member *member);

/* Gives the place up, after member_leave(): the process has nothing to do with the team any more.
 */
void member_let_go(const struct member *member);

/* Frees what @member owns. */
void member_done(struct member *member);
