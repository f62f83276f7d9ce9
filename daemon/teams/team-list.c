/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/teams/team-list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"
#include "common/number.h"

static const char store_prefix[] = "team"; /* and the place */

enum { STORE_NAME_BYTES = 16 };

/* --- the service manager's store --- */

static void store_name(unsigned place, char ret[STORE_NAME_BYTES])
{
	snprintf(ret, STORE_NAME_BYTES, "%s%u", store_prefix, place);
}

/* Without a manager, or if it has no room, the table does not outlive this process. */
static void keep(const struct team *team)
{
	char name[STORE_NAME_BYTES];

	store_name(team->place, name);
	fdstore_keep(name, &team->fd, 1);
}

static void forget(unsigned place)
{
	char name[STORE_NAME_BYTES];

	store_name(place, name);
	fdstore_forget(name);
}

/* --- the list --- */

static unsigned free_place(const struct team_list *list)
{
	unsigned place = 0;

	while (list->places[place])
		place++;
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
	struct team *added = insert(list, team, free_place(list));

	keep(added);
	return added;
}

void team_list_drop(struct team_list *list, struct team *team)
{
	size_t at = (size_t)(team - list->table);

	forget(team->place);
	list->places[team->place] = false;
	close_fd(&team->fd);
	memmove(team, team + 1, (--list->n - at) * sizeof *team);
}

static bool is_of(const struct team *team, uint32_t uid, const char *name)
{
	return team->uid == uid && !strcmp(team->name, name);
}

const struct team *team_list_find(
	const struct team_list *list, uint32_t uid, const char *name, uint32_t run)
{
	for (unsigned i = list->n; i-- > 0;)
		if (is_of(&list->table[i], uid, name) && (!run || list->table[i].run == run))
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

static bool is_there(const struct team_list *list, const struct team *team)
{
	for (unsigned i = 0; i < list->n; i++) {
		const struct team *other = &list->table[i];

		if (is_of(other, team->uid, team->name) && other->run == team->run &&
			other->layout == team->layout)
			return true;
	}
	return false;
}

/* Another file than uncored left, or the same once more, is dropped. */
static void adopt(struct team_list *list, struct fdstore_item *item)
{
	_cleanup_close_ int fd = take_fd(&item->fd);
	struct team team;
	uint64_t place;

	if (!number_parse_whole(item->name + strlen(store_prefix), 10, TEAMS_MAX - 1, &place) ||
		!team_read_memfd(fd, &team) || list->places[place] || is_there(list, &team)) {
		fdstore_forget(item->name);
		return;
	}
	team.account = team.uid;
	take_fd(&fd); /* is team.fd, too */
	insert(list, &team, (unsigned)place);
}

int team_list_new(struct fdstore *store, struct team_list **ret)
{
	struct team_list *list = calloc(1, sizeof *list);

	if (list)
		list->table = calloc(TEAMS_MAX, sizeof *list->table);
	if (!list || !list->table) {
		free(list);
		return -ENOMEM;
	}
	list->most = TEAMS_MAX;
	for (unsigned i = 0; i < store->n; i++)
		if (store->items[i].fd >= 0 &&
			!strncmp(store->items[i].name, store_prefix, strlen(store_prefix)))
			adopt(list, &store->items[i]);
	*ret = list;
	return 0;
}

void team_list_keep(const struct team_list *list)
{
	for (unsigned i = 0; i < list->n; i++) {
		forget(list->table[i].place);
		keep(&list->table[i]);
	}
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
