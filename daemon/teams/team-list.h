/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables that uncored keeps, the oldest first, here and in the service manager's store. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/fdstore.h"
#include "daemon/teams/team.h"

enum { TEAMS_MAX = 512 };

struct team_list {
	unsigned n;
	unsigned most;      /* that there is room for: TEAMS_MAX, or fewer */
	struct team *table; /* owned; by age */
	uint64_t review_ns; /* when uncored looks again whose time is over */
	int stamp_fd;       /* kept beside the tables */
	bool is_first;      /* no process before knew tables: there was no stamp */
	bool is_stamp_kept;
	bool places[TEAMS_MAX]; /* taken, in the manager's store */
	bool told[TEAMS_MAX];   /* the manager may keep something at this place */
};

/*
 * Begins with the tables that a process before left in @store. An uncored that knows no tables
 * drops them from there, and with them a stamp that is there as long as each process knows of it.
 * Errors of memfd_create(2).
 */
int team_list_new(struct fdstore *store, struct team_list **ret);

/* Leaves all tables with the service manager, if there is one; a new table is left there at
 * once. */
void team_list_keep(struct team_list *list);

/* Tells the service manager what it had no room for before (notify.h): tables to keep and to
 * forget. */
void team_list_tell(struct team_list *list);

/* Closes all tables; the manager keeps its own. @list may be NULL. Returns NULL. */
struct team_list *team_list_free(struct team_list *list);

/* The limit of open files has room for @most tables. */
void team_list_limit(struct team_list *list, unsigned most);

/* Adds @team, whose descriptor becomes the list's. There must be fewer than TEAMS_MAX. A pointer to
 * a table of the list is valid until the next table comes or goes. */
struct team *team_list_add(struct team_list *list, const struct team *team);

/* Closes @team, one of the list's, and takes it out of the list and the manager's store. */
void team_list_drop(struct team_list *list, struct team *team);

/* The newest of @uid with this name, and this run unless that is 0; or NULL. */
const struct team *team_list_find(
	const struct team_list *list, uint32_t uid, const char *name, uint32_t run);

/* Table @number of @uid, the oldest is number 0; or NULL. */
const struct team *team_list_find_number(
	const struct team_list *list, uint32_t uid, uint32_t number);

bool team_list_has(const struct team_list *list, uint32_t uid);
