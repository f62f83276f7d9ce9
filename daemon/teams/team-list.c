/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/teams/team-list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"
#include "common/number.h"
#include "daemon/base/log.h"

static const char store_prefix[] = "team"; /* followed by the place */

enum { STORE_NAME_BYTES = 16 };

/* --- the service manager's store --- */

static void store_name(unsigned place, char ret[STORE_NAME_BYTES])
{
	snprintf(ret, STORE_NAME_BYTES, "%s%u", store_prefix, place);
}

/* False: the manager takes no messages now. */
static bool team_list_forget(struct team_list *list, unsigned place)
{
	char name[STORE_NAME_BYTES];

	if (!list->told[place])
		return true;
	store_name(place, name);
	list->told[place] = fdstore_forget(name) == -EAGAIN;
	return !list->told[place];
}

/* Without a manager, or if its store is full, the table does not outlive this process. */
static bool team_list_keep_table(struct team_list *list, struct team *team)
{
	char name[STORE_NAME_BYTES];

	if (team->is_kept)
		return true;
	if (!team_list_forget(list, team->place))
		return false;
	store_name(team->place, name);
	team->is_kept = fdstore_keep(name, &team->fd, 1) != -EAGAIN;
	list->told[team->place] = team->is_kept;
	return team->is_kept;
}

void team_list_tell(struct team_list *list)
{
	bool listens = true;

	for (unsigned place = 0; place < TEAMS_MAX && listens; place++)
		listens = list->places[place] || team_list_forget(list, place);
	for (unsigned i = 0; i < list->n && listens; i++)
		listens = team_list_keep_table(list, &list->table[i]);
}

/* --- the list --- */

/* Prefers a place at which the manager keeps nothing. */
static unsigned team_list_free_place(const struct team_list *list)
{
	for (bool told = false;; told = true)
		for (unsigned place = 0; place < TEAMS_MAX; place++)
			if (!list->places[place] && list->told[place] <= told)
				return place;
}

static struct team *insert(struct team_list *list, const struct team *team, unsigned place)
{
	unsigned at = list->n++;

	while (at && list->table[at - 1].made_ns > team->made_ns) {
		list->table[at] = list->table[at - 1];
		at--;
	}
	list->table[at] = *team;
	list->table[at].place = place;
	list->places[place] = true;
	return &list->table[at];
}

struct team *team_list_add(struct team_list *list, const struct team *team)
{
	struct team *added = insert(list, team, team_list_free_place(list));

	team_list_tell(list);
	return added;
}

void team_list_drop(struct team_list *list, struct team *team)
{
	size_t at = (size_t)(team - list->table);

	list->places[team->place] = false;
	close_fd(&team->fd);
	memmove(team, team + 1, (--list->n - at) * sizeof *team);
	team_list_tell(list);
}

static bool team_list_is_of(const struct team *team, uint32_t uid, const char *name)
{
	return team->uid == uid && !strcmp(team->name, name);
}

const struct team *team_list_find(
	const struct team_list *list, uint32_t uid, const char *name, uint32_t run)
{
	for (unsigned i = list->n; i-- > 0;)
		if (team_list_is_of(&list->table[i], uid, name) &&
			(!run || list->table[i].run == run))
			return &list->table[i];
	return NULL;
}

const struct team *team_list_find_number(
	const struct team_list *list, uint32_t uid, uint32_t number)
{
	for (unsigned i = 0; i < list->n; i++)
		if (list->table[i].uid == uid && !number--)
			return &list->table[i];
	return NULL;
}

bool team_list_has(const struct team_list *list, uint32_t uid)
{
	return team_list_find_number(list, uid, 0);
}

/* --- beginning and end --- */

static bool team_list_is_there(const struct team_list *list, const struct team *team)
{
	for (unsigned i = 0; i < list->n; i++) {
		const struct team *other = &list->table[i];

		if (team_list_is_of(other, team->uid, team->name) && other->run == team->run &&
			other->layout == team->layout)
			return true;
	}
	return false;
}

/* Drops a file that is not a table of uncored's, and a table that is already in the list. */
static void team_list_adopt(struct team_list *list, struct fdstore_item *item)
{
	_cleanup_close_ int fd = take_fd(&item->fd);
	struct team team;
	uint64_t place;

	if (!number_parse_whole(item->name + strlen(store_prefix), 10, TEAMS_MAX - 1, &place) ||
		!team_read_memfd(fd, &team) || list->places[place] ||
		team_list_is_there(list, &team)) {
		log_warning("What the service manager kept as %s is not the table of a team, or is "
			    "there already: it is dropped.",
			item->name);
		fdstore_forget(item->name);
		return;
	}
	take_fd(&fd); /* team.fd has it */
	team.account = team.uid;
	list->told[place] = true;
	insert(list, &team, (unsigned)place);
}

int team_list_new(struct fdstore *store, struct team_list **ret)
{
	struct team_list *list = calloc(1, sizeof *list);

	if (!list)
		return -ENOMEM;
	list->most = TEAMS_MAX;
	list->table = calloc(TEAMS_MAX, sizeof *list->table);
	if (!list->table) {
		team_list_free(list);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < store->n; i++)
		if (store->items[i].fd >= 0 &&
			!strncmp(store->items[i].name, store_prefix, strlen(store_prefix)))
			team_list_adopt(list, &store->items[i]);
	*ret = list;
	return 0;
}

void team_list_keep(struct team_list *list)
{
	for (unsigned i = 0; i < list->n; i++)
		list->table[i].is_kept = false;
	team_list_tell(list);
}

struct team_list *team_list_free(struct team_list *list)
{
	if (!list)
		return NULL;
	for (unsigned i = 0; i < list->n; i++)
		close_fd(&list->table[i].fd);
	free(list->table);
	free(list);
	return NULL;
}

void team_list_limit(struct team_list *list, unsigned most)
{
	list->most = most < TEAMS_MAX ? most : TEAMS_MAX;
}
