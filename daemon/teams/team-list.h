/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables that uncored keeps, the oldest first, here and in the service manager's store. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/fdstore.h"
#include "daemon/teams/team.h"

enum { TEAMS_MAX = TEAM_PLACES_MAX };

struct team_list {
	unsigned n;
	unsigned most;          /* room for tables: TEAMS_MAX, or fewer */
	struct team *table;     /* owned; by age */
	bool places[TEAMS_MAX]; /* places taken in the manager's store */
	bool told[TEAMS_MAX];   /* the manager may keep something at this place */
};

/* Takes over the tables that an earlier process left in @store. -ENOMEM. */
int team_list_new(struct fdstore *store, struct team_list **ret);

/* Leaves all tables with the service manager, if there is one. A table that is added later is left
 * there at once. */
void team_list_keep(struct team_list *list);

/* Sends the service manager the messages that it had no room for before (notify.h): tables to keep
 * and to forget. */
void team_list_tell(struct team_list *list);

/* Closes all tables; the manager keeps its descriptors. @list may be NULL. Returns NULL. */
struct team_list *team_list_free(struct team_list *list);

/* Limits the number of tables to @most, which the limit of open files has room for. */
void team_list_limit(struct team_list *list, unsigned most);

/* Adds @team. The list takes over its descriptor. There must be fewer than TEAMS_MAX tables. A
 * pointer to a table of the list is valid until the next table comes or goes. */
struct team *team_list_add(struct team_list *list, const struct team *team);

/* Closes @team, a table of the list, and removes it from the list and the manager's store. */
void team_list_drop(struct team_list *list, struct team *team);

/* The newest table of @uid with this name, and with this run unless @run is 0; or NULL. */
const struct team *team_list_find(
	const struct team_list *list, uint32_t uid, const char *name, uint32_t run);

/* Table @number of @uid, of which the oldest is number 0; or NULL. */
const struct team *team_list_find_number(
	const struct team_list *list, uint32_t uid, uint32_t number);

bool team_list_has(const struct team_list *list, uint32_t uid);
