/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/teams/team-room.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* The tables of a uid or of an account: their number and the memory that they take. */
struct share {
	unsigned n;
	uint64_t bytes;
};

/* @uid, @account NULL: any. */
static struct share team_room_share_of(
	const struct team_list *list, const uint32_t *uid, const uint64_t *account)
{
	struct share share = {};

	for (unsigned i = 0; i < list->n; i++) {
		const struct team *team = &list->table[i];

		if ((uid && team->uid != *uid) || (account && team->account != *account))
			continue;
		share.n++;
		share.bytes += team->used_bytes;
	}
	return share;
}

static struct share share_of_uid(const struct team_list *list, uint32_t uid)
{
	return team_room_share_of(list, &uid, NULL);
}

static struct share share_of_account(const struct team_list *list, uint64_t account)
{
	return team_room_share_of(list, NULL, &account);
}

static bool uid_is_full(const struct team_list *list, uint32_t uid)
{
	struct share share = share_of_uid(list, uid);

	return share.n >= TEAMS_OF_UID_MAX || share.bytes >= TEAMS_BYTES_OF_UID_MAX;
}

static unsigned count_alive(struct team_list *list, uint32_t uid, uint64_t now_ns)
{
	unsigned n = 0;

	for (unsigned i = 0; i < list->n; i++)
		n += list->table[i].uid == uid && team_is_alive(&list->table[i], now_ns);
	return n;
}

/* --- choosing the table to drop --- */

/* The account with the most tables; @account if no other has more. */
static uint64_t largest_account(const struct team_list *list, uint64_t account)
{
	unsigned most = share_of_account(list, account).n;

	for (unsigned i = 0; i < list->n; i++) {
		unsigned n = share_of_account(list, list->table[i].account).n;

		if (n > most) {
			most = n;
			account = list->table[i].account;
		}
	}
	return account;
}

/* The uid of @account with the most tables, or bytes; @uid if none has more than @uid has in
 * @account. */
static uint32_t largest_uid(
	const struct team_list *list, uint64_t account, uint32_t uid, bool by_bytes)
{
	struct share most = team_room_share_of(list, &uid, &account);

	for (unsigned i = 0; i < list->n; i++) {
		const struct team *team = &list->table[i];
		struct share share = {};

		if (team->account == account)
			share = share_of_uid(list, team->uid);
		if (by_bytes ? share.bytes > most.bytes : share.n > most.n) {
			most = share;
			uid = team->uid;
		}
	}
	return uid;
}

static int drop_oldest_ended(struct team_list *list, uint32_t uid, uint64_t now_ns)
{
	for (unsigned i = 0; i < list->n; i++)
		if (list->table[i].uid == uid && !team_is_alive(&list->table[i], now_ns)) {
			team_list_drop(list, &list->table[i]);
			return 0;
		}
	return -EDQUOT;
}

/* --- the bounds --- */

/* 1: there is room; 0: a table was dropped, and others may have to follow. */
static int make_room_in_account(
	struct team_list *list, uint32_t uid, uint64_t account, uint64_t now_ns)
{
	struct share share = share_of_account(list, account);
	bool by_bytes = share.bytes >= TEAMS_BYTES_OF_ACCOUNT_MAX;

	if (!by_bytes && share.n < TEAMS_OF_ACCOUNT_MAX)
		return 1;
	return drop_oldest_ended(list, largest_uid(list, account, uid, by_bytes), now_ns);
}

int team_room_make(struct team_list *list, uint32_t uid, uint64_t account, uint64_t now_ns)
{
	int r = count_alive(list, uid, now_ns) < TEAMS_ALIVE_MAX ? 0 : -EDQUOT;

	for (unsigned i = 0; i < list->n; i++)
		team_measure(&list->table[i]);
	while (r >= 0 && uid_is_full(list, uid))
		r = drop_oldest_ended(list, uid, now_ns);
	while (r == 0)
		r = make_room_in_account(list, uid, account, now_ns);
	while (r >= 0 && list->n >= list->most) {
		uint64_t largest = largest_account(list, account);

		r = drop_oldest_ended(list, largest_uid(list, largest, uid, false), now_ns);
	}
	return r < 0 ? r : 0;
}

/* --- tables that were filled later --- */

/* Drops ended tables of uids that exceed their bound, the oldest first. A table that takes no
 * memory stays, because dropping it frees none. */
static void enforce_uid_bound(struct team_list *list, uint64_t account, uint64_t now_ns)
{
	for (unsigned i = 0; i < list->n;) {
		struct team *team = &list->table[i];

		if (team->account == account && team->used_bytes &&
			share_of_uid(list, team->uid).bytes > TEAMS_BYTES_OF_UID_MAX &&
			!team_is_alive(team, now_ns))
			team_list_drop(list, team);
		else
			i++;
	}
}

/* Finds the next ended table to drop. Considers the uids of @account that have an ended table with
 * memory, takes the uid with the most bytes, and returns its oldest such table; or NULL. */
static struct team *find_largest_ended(struct team_list *list, uint64_t account, uint64_t now_ns)
{
	struct team *found = NULL;
	uint64_t most = 0;

	for (unsigned i = 0; i < list->n; i++) {
		struct team *team = &list->table[i];
		uint64_t bytes;

		if (team->account != account || !team->used_bytes)
			continue;
		bytes = share_of_uid(list, team->uid).bytes;
		if (bytes > most && !team_is_alive(team, now_ns)) {
			most = bytes;
			found = team;
		}
	}
	return found;
}

static void enforce_account(struct team_list *list, uint64_t account, uint64_t now_ns)
{
	struct team *team;

	for (unsigned i = 0; i < list->n; i++)
		if (list->table[i].account == account)
			team_measure(&list->table[i]);
	enforce_uid_bound(list, account, now_ns);
	while (share_of_account(list, account).bytes > TEAMS_BYTES_OF_ACCOUNT_MAX &&
		(team = find_largest_ended(list, account, now_ns)))
		team_list_drop(list, team);
}

void team_room_enforce_uid(struct team_list *list, uint32_t uid, uint64_t now_ns)
{
	const struct team *team = team_list_find_number(list, uid, 0);

	if (team)
		enforce_account(list, team->account, now_ns);
}

static bool is_newest_of_account(const struct team_list *list, unsigned at)
{
	for (unsigned i = at + 1; i < list->n; i++)
		if (list->table[i].account == list->table[at].account)
			return false;
	return true;
}

/* Dropping a table moves later tables down in the list, so this begins with the newest. */
void team_room_enforce(struct team_list *list, uint64_t now_ns)
{
	for (unsigned i = list->n; i-- > 0;)
		if (i < list->n && is_newest_of_account(list, i))
			enforce_account(list, list->table[i].account, now_ns);
}
