/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/teams/teams.h"

#include <errno.h>
#include <string.h>

#include "daemon/teams/team-room.h"

static const uint64_t NS_PER_S = 1000000000, NS_PER_RUN = 10000000;

static bool teams_is_meant(const struct team *team, const struct teams_wish *wish)
{
	return team->uid == wish->uid && team->layout == wish->layout &&
	       !strcmp(team->name, wish->name);
}

static struct team *find_newest_run(const struct team_list *list, const struct teams_wish *wish)
{
	struct team *found = NULL;

	for (unsigned i = 0; i < list->n; i++)
		if (teams_is_meant(&list->table[i], wish) &&
			(!found || list->table[i].run > found->run))
			found = &list->table[i];
	return found;
}

/*
 * The number of a new run comes from the time since the node booted, in hundredths of a second. So
 * no number is used twice, even if tables were lost together with their numbers. The numbers wrap
 * after 497 days.
 */
static uint32_t number_of_run(uint32_t after_run, uint64_t now_ns)
{
	uint32_t by_time = (uint32_t)(now_ns / NS_PER_RUN % (UINT32_MAX - 1)) + 1;

	return by_time > after_run ? by_time : after_run + 1;
}

void teams_note_others(struct team_list *list, const struct team *team, uint64_t now_ns)
{
	struct team *own = &list->table[team - list->table];

	for (unsigned i = 0; i < list->n; i++) {
		struct team *other = &list->table[i];

		if (other->uid == own->uid && strcmp(other->name, own->name) != 0 &&
			team_is_alive(other, now_ns))
			team_meet(own, other);
	}
}

static int teams_make(struct team_list *list, const struct teams_wish *wish, uint64_t now_ns,
	const struct team **ret)
{
	struct team team = {
		.uid = wish->uid,
		.run = number_of_run(wish->run, now_ns),
		.layout = wish->layout,
		.account = wish->account,
		.bytes = wish->bytes,
		.made_ns = now_ns,
		.ended_ns = now_ns,
	};
	int r;

	strcpy(team.name, wish->name);
	r = team_make_memfd(&team);
	if (r < 0)
		return r;
	*ret = team_list_add(list, &team);
	teams_note_others(list, *ret, now_ns);
	return 1;
}

static void teams_set_account(struct team_list *list, const struct teams_wish *wish)
{
	for (unsigned i = 0; i < list->n; i++)
		if (list->table[i].uid == wish->uid)
			list->table[i].account = wish->account;
}

int teams_join(struct team_list *list, const struct teams_wish *wish, uint64_t now_ns,
	const struct team **ret)
{
	const struct team *team = find_newest_run(list, wish);
	int r;

	if (!team_may_have(wish->bytes) || wish->run == UINT32_MAX)
		return -EINVAL;
	if (team && team->run > wish->run) {
		*ret = team;
		return 0;
	}
	teams_set_account(list, wish);
	r = team_room_make(list, wish->uid, wish->account, now_ns);
	return r < 0 ? r : teams_make(list, wish, now_ns, ret);
}

bool teams_forget(struct team_list *list, const struct teams_wish *wish)
{
	for (unsigned i = 0; i < list->n; i++)
		if (teams_is_meant(&list->table[i], wish) && list->table[i].run == wish->run) {
			team_list_drop(list, &list->table[i]);
			return true;
		}
	return false;
}

unsigned teams_count_alive(struct team_list *list, uint64_t now_ns)
{
	unsigned n = 0;

	for (unsigned i = 0; i < list->n; i++)
		n += team_is_alive(&list->table[i], now_ns);
	return n;
}

/* Drops @team if its time is over. Returns when its time will be over; UINT64_MAX: it is alive or
 * was dropped. */
static uint64_t review(struct team_list *list, struct team *team, uint64_t now_ns)
{
	uint64_t over_ns;

	if (team_is_alive(team, now_ns))
		return UINT64_MAX;
	over_ns = team->ended_ns + TEAMS_KEPT_S * NS_PER_S;
	if (over_ns > now_ns)
		return over_ns;
	team_list_drop(list, team);
	return UINT64_MAX;
}

void teams_review_uid(struct team_list *list, uint32_t uid, uint64_t now_ns)
{
	team_room_enforce_uid(list, uid, now_ns);
	for (unsigned i = list->n; i-- > 0;)
		if (list->table[i].uid == uid)
			review(list, &list->table[i], now_ns);
}

uint64_t teams_review(struct team_list *list, uint64_t now_ns)
{
	uint64_t due_ns = now_ns + TEAMS_LOOK_S * NS_PER_S;

	for (unsigned i = list->n; i-- > 0;) {
		uint64_t over_ns = review(list, &list->table[i], now_ns);

		if (over_ns < due_ns)
			due_ns = over_ns;
	}
	team_room_enforce(list, now_ns);
	team_list_tell(list);
	return due_ns;
}
