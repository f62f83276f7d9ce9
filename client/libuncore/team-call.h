/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of teams (common/team.h), as uncored hands them out. uncored may be an impostor. So a
 * table from here is a memfd of the announced size that can never shrink: mapping it is safe from
 * SIGBUS. The caller must check the contents, because every process of its uid can write to them.
 *
 * Every function that fails sets the error sentence (error_say()). Errors of all three functions:
 * as uncore_open(); -EBADMSG: the answer is malformed. @socket_path is as for uncore_open().
 */
#pragma once

#include <stdint.h>

#include "common/page.h"
#include "common/team.h"

struct team_table {
	int fd; /* for reading and writing; the caller's, for team_table_done() */
	uint32_t run, layout, uid;
	uint64_t bytes;
	uint64_t made_ns; /* CLOCK_MONOTONIC */
	char name[TEAM_NAME_BYTES];
	uint32_t n_others; /* teams of this user that uncored saw alive while this one was */
	char other[TEAM_NAME_BYTES]; /* the first of these */
};

/* The table that a process asks for, to share it with others. */
struct team_wish {
	const char *name; /* as team_name_is_valid() */
	uint32_t layout;
	uint32_t after_run; /* that run has ended: only a later one will do; 0: any */
	uint64_t bytes;     /* a multiple of the page size, at most TEAM_BYTES_MAX */
};

/* Selects one of the tables that uncored keeps for a uid. */
struct team_choice {
	uint32_t uid;     /* TEAM_OWN; root may give any */
	const char *name; /* the newest of this name; NULL: any name */
	uint32_t run;     /* ... and of this run; 0: any run. Must be 0 without a name */
	uint32_t number;  /* without a name: counts from 0, the oldest. Must be 0 with a name */
};

/*
 * Gets the table of the caller's team: the newest run if it is later than wish->after_run, or else
 * a new table. A table that an earlier process made may have another size than the wish. -EINVAL:
 * name, bytes or run are out of range; -EDQUOT: this user has too many tables.
 */
int team_join(const char *socket_path, const struct team_wish *wish, struct team_table *ret);

/*
 * Looks up a table. @own is the table that this process already has, or NULL. If the choice is
 * @own, *@ret is a copy of @own, with the same descriptor: a process that holds a lock on a table
 * must have no second descriptor of it, because closing that one would release the lock. -ENODATA:
 * uncored keeps no such table; -EINVAL: the choice is out of range; -EPERM: it is another user's.
 */
int team_look(const char *socket_path, const struct team_choice *choice,
	const struct team_table *own, struct team_table *ret);

/* Makes uncored drop @table, which one of the above returned; members of the team keep it. Errors
 * as team_look(). */
int team_forget(const char *socket_path, const struct team_table *table);

/* The last reading of a team whose processes were all killed (WIRE_LAST). */
struct team_reading {
	uint64_t generation[2];
	uint64_t alive_ns, noticed_ns;
	uint32_t n_sockets;
	struct page_sweep sweeps[PAGE_SOCKETS_MAX];
};

/* Gets the last reading for @table; waits if uncored is about to take it. -ENODATA: uncored has
 * none; -ETIMEDOUT: it still waits for the budget or the site's rules; errors as team_look(). */
int team_last_reading(
	const char *socket_path, const struct team_table *table, struct team_reading *ret);

/* Closes the descriptor. */
void team_table_done(struct team_table *table);
