/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/rules.h"

#include <sys/stat.h>

static bool has_group(const struct rules_user *user, uint32_t group)
{
	for (uint32_t i = 0; i < user->n_groups; i++)
		if (user->groups[i] == group)
			return true;
	return user->gid == group;
}

/* Connecting requires write permission (unix(7)). The first class that fits decides, as for every
 * file. */
static bool may_write(const struct rules *rules, const struct rules_user *user)
{
	if (user->uid == rules->socket.uid)
		return rules->socket.mode & S_IWUSR;
	if (has_group(user, rules->socket.gid))
		return rules->socket.mode & S_IWGRP;
	return rules->socket.mode & S_IWOTH;
}

static bool is_in_group(const struct rules *rules, const struct rules_user *user)
{
	return !rules->by_group || has_group(user, rules->group);
}

static bool rules_is_listed(const struct rules *rules, const struct rules_user *user)
{
	for (uint32_t i = 0; i < rules->n_users; i++)
		if (rules->users[i] == user->uid)
			return true;
	return !rules->n_users;
}

static bool is_owner(const struct rules *rules, const struct rules_user *user)
{
	return !rules->owner_only || (rules->owner != RULES_NOBODY && user->uid == rules->owner);
}

static const struct {
	bool (*is_kept)(const struct rules *rules, const struct rules_user *user);
	const char *words;
} checks[RULES] = {
	[RULE_SOCKET] = { may_write,
		"may not connect to uncored by the permissions of its socket" },
	[RULE_GROUP] = { is_in_group, "is not in the group whose members may connect to uncored" },
	[RULE_USERS] = { rules_is_listed, "is not among the users who may connect to uncored" },
	[RULE_OWNER] = { is_owner, "does not own the job that this node runs" },
};

enum rule rules_broken(const struct rules *rules, const struct rules_user *user, enum rule from)
{
	for (enum rule rule = from; rule < RULES; rule++)
		if (!checks[rule].is_kept(rules, user))
			return rule;
	return RULE_NONE;
}

const char *rule_words(enum rule rule)
{
	return checks[rule].words;
}
