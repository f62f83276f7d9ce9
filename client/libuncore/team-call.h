/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of teams (common/team.h), as uncored hands them out. uncored may be an impostor: a
 * table that comes from here is a memfd of the size told that can never shrink, so it can be mapped
 * without a SIGBUS. What it holds is for the caller to check, because every process of its uid can
 * write to it.
 *
 * All functions that fail say why (error_say()). Beside the errors of uncore_open() there are, for
 * all three: -EOPNOTSUPP: this uncored is older than teams, or uncored refuses to speak of them;
 * -EBADMSG: the answer is not right. @socket_path is as for uncore_open().
 */
#pragma once

#include <stdint.h>

#include "common/team.h"

struct team_table {
	int fd; /* for reading and writing; the caller's, for team_table_done() */
	uint32_t run, layout, uid;
	uint64_t bytes;
	uint64_t made_ns; /* CLOCK_MONOTONIC */
	char name[TEAM_NAME_BYTES];
};

/* The table that a process wants to have with others. */
struct team_wish {
	const char *name; /* as team_name_is_valid() */
	uint32_t layout;
	uint32_t after_run; /* this run has ended, a later one is wanted; 0: any */
	uint64_t bytes;     /* a multiple of the page size, at most TEAM_BYTES_MAX */
};

/* Which of the tables of a uid that uncored keeps. */
struct team_choice {
	uint32_t uid;     /* TEAM_OWN, or for root any */
	const char *name; /* the newest of this name; NULL: any name */
	uint32_t run;     /* ... of this run; 0: of any. 0 without a name */
	uint32_t number;  /* without a name: 0 is the oldest table. 0 with a name */
};

/*
 * The table of the own team: its newest run, if that is later than wish->after_run, or a new one.
 * A table of an earlier process may have another size than was wished. -EINVAL: name, bytes or run
 * are out of range; -EDQUOT: this user has too many tables.
 */
int team_join(const char *socket_path, const struct team_wish *wish, struct team_table *ret);

/*
 * -ENODATA: uncored keeps no such table. -EINVAL: the choice is out of range. -EPERM: it is another
 * user's. Where it is @own, a table that this process has already (or NULL), *@ret is a copy of
 * @own: of a table on which this process holds a lock it must have no second descriptor, because to
 * close that would give up the lock.
 */
int team_look(const char *socket_path, const struct team_choice *choice,
	const struct team_table *own, struct team_table *ret);

/* Has uncored let go of @table, which came from one of the above; members of the team keep it. For
 * the errors see team_look(). */
int team_forget(const char *socket_path, const struct team_table *table);

/* Closes the descriptor. */
void team_table_done(struct team_table *table);
