/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/teams/team-room.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* Whose tables a bound counts. All tables of a uid are of one account. */
enum scope { OF_UID, OF_ACCOUNT, OF_ALL, SCOPES };

struct owner {
	uint32_t uid;
	uint64_t account;
};

/* The number of some tables, and the memory that they take. */
struct share {
	uint64_t n, bytes;
};

static struct owner owner_of(const struct team *team)
{
	return (struct owner){ team->uid, team->account };
}

static bool team_room_is_in(enum scope scope, struct owner owner, const struct team *team)
{
	if (scope == OF_UID)
		return team->uid == owner.uid;
	return scope == OF_ALL || team->account == owner.account;
}

static struct share team_room_share_of(
	const struct team_list *list, enum scope scope, struct owner owner)
{
	struct share share = {};

	for (unsigned i = 0; i < list->n; i++)
		if (team_room_is_in(scope, owner, &list->table[i])) {
			share.n++;
			share.bytes += list->table[i].used_bytes;
		}
	return share;
}

static void team_room_measure(struct team_list *list, enum scope scope, struct owner owner)
{
	for (unsigned i = 0; i < list->n; i++)
		if (team_room_is_in(scope, owner, &list->table[i]))
			team_measure(&list->table[i]);
}

static unsigned count_alive(struct team_list *list, uint32_t uid, uint64_t now_ns)
{
	unsigned n = 0;

	for (unsigned i = 0; i < list->n; i++)
		n += list->table[i].uid == uid && team_is_alive(&list->table[i], now_ns);
	return n;
}

/* --- choosing the table to drop --- */

/* Which tables may be dropped: those of @owner in @scope. */
struct search {
	enum scope scope;
	struct owner owner;
	bool by_bytes;    /* only tables that take memory: dropping another frees none */
	bool if_too_many; /* only while the uid or its account has more memory than it may */
	uint64_t least;   /* only of owners that weigh more */
};

/* The owner that weighs most gives a table. Among all tables its account decides before the uid.
 * Where others have as much as search->owner, that one gives. */
static uint64_t weigh(const struct team_list *list, const struct search *search, struct owner owner)
{
	const struct share of_uid = team_room_share_of(list, OF_UID, owner);
	uint64_t most = search->by_bytes ? of_uid.bytes : of_uid.n;

	if (search->scope == OF_ALL && !search->by_bytes)
		most += team_room_share_of(list, OF_ACCOUNT, owner).n * (TEAMS_MAX + 1);
	return 2 * most + (owner.uid == search->owner.uid);
}

static bool has_too_many(const struct team_list *list, struct owner owner)
{
	return team_room_share_of(list, OF_UID, owner).bytes > TEAMS_BYTES_OF_UID_MAX ||
	       team_room_share_of(list, OF_ACCOUNT, owner).bytes > TEAMS_BYTES_OF_ACCOUNT_MAX;
}

/* The oldest ended table of the uid that weighs most of those with an ended table, or NULL. */
static struct team *find_ended(struct team_list *list, const struct search *search, uint64_t now_ns)
{
	uint64_t most = search->least;
	struct team *found = NULL;

	for (unsigned i = 0; i < list->n; i++) {
		struct team *team = &list->table[i];
		uint64_t weight;

		if (!team_room_is_in(search->scope, search->owner, team) ||
			(search->by_bytes && !team->used_bytes))
			continue;
		weight = weigh(list, search, owner_of(team));
		if (weight > most && (!search->if_too_many || has_too_many(list, owner_of(team))) &&
			!team_is_alive(team, now_ns)) {
			most = weight;
			found = team;
		}
	}
	return found;
}

/* --- the bounds --- */

/* Drops a table in @scope if there is no room for another one of @owner. 1: there is room; 0: a
 * table was dropped, and others may have to follow. */
static int make_room_in(
	struct team_list *list, enum scope scope, struct owner owner, uint64_t now_ns)
{
	const struct share bounds[SCOPES] = {
		[OF_UID] = { TEAMS_OF_UID_MAX, TEAMS_BYTES_OF_UID_MAX },
		[OF_ACCOUNT] = { TEAMS_OF_ACCOUNT_MAX, TEAMS_BYTES_OF_ACCOUNT_MAX },
		[OF_ALL] = { list->most, UINT64_MAX },
	};
	const struct share share = team_room_share_of(list, scope, owner);
	struct search search = { scope, owner, .by_bytes = share.bytes >= bounds[scope].bytes };
	struct team *team;

	if (!search.by_bytes && share.n < bounds[scope].n)
		return 1;
	search.least = weigh(list, &search, owner) - 1;
	team = find_ended(list, &search, now_ns);
	if (!team)
		return -EDQUOT;
	team_list_drop(list, team);
	return 0;
}

int team_room_make(struct team_list *list, uint32_t uid, uint64_t account, uint64_t now_ns)
{
	const struct owner owner = { uid, account };
	int r = count_alive(list, uid, now_ns) < TEAMS_ALIVE_MAX ? 0 : -EDQUOT;

	team_room_measure(list, OF_ALL, owner);
	for (enum scope scope = OF_UID; r >= 0 && scope < SCOPES; scope++)
		do
			r = make_room_in(list, scope, owner, now_ns);
		while (r == 0);
	return r < 0 ? r : 0;
}

/* --- tables that were filled later --- */

/* A sum that one uid may have needs no closer look. */
static void enforce(struct team_list *list, enum scope scope, struct owner owner, uint64_t now_ns)
{
	const struct search search = { scope, owner, .by_bytes = true, .if_too_many = true };
	struct team *team;

	team_room_measure(list, scope, owner);
	if (team_room_share_of(list, scope, owner).bytes > TEAMS_BYTES_OF_UID_MAX)
		while ((team = find_ended(list, &search, now_ns)))
			team_list_drop(list, team);
}

void team_room_enforce_uid(struct team_list *list, uint32_t uid, uint64_t now_ns)
{
	const struct team *team = team_list_find_number(list, uid, 0);

	if (team)
		enforce(list, OF_ACCOUNT, owner_of(team), now_ns);
}

void team_room_enforce(struct team_list *list, uint64_t now_ns)
{
	enforce(list, OF_ALL, (struct owner){}, now_ns);
}
