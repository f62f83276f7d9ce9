/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/libuncore/internal.h"
#include "common/rules.h"

static int admits_refuse(enum rule broken, uint32_t uid)
{
	static const char *const keys[RULES] = {
		[RULE_SOCKET] = "mode",
		[RULE_GROUP] = "group",
		[RULE_USERS] = "users",
		[RULE_OWNER] = "owner_only",
	};
	/* Root may always connect, so the words of the rule would be false. */
	static const char of_root[] =
		"may connect to uncored itself, but another program may read for root only if the "
		"rule lets root in as it lets in other users";
	char user[32] = "An unknown user";

	if (!uid)
		strcpy(user, "Root");
	else if (uid != UNCORE_UNKNOWN_USER)
		snprintf(user, sizeof user, "User %u", uid);
	return error_say(-EACCES,
		"%s %s. The rule is %s in [access] of uncored.conf; the administrator of this node "
		"can change it.",
		user, uid ? rule_words(broken) : of_root, keys[broken]);
}

static int copy_rules(const struct uncore *handle, struct rules *ret)
{
	int r = page_rules_copy(handle->rules, ret);

	return r < 0 ? error_say(r, "The access rules of uncored are not known: %m.") : 0;
}

_public_ int uncore_admits(const struct uncore *handle, const struct uncore_user *user)
{
	struct rules_user asked;
	struct rules rules;
	enum rule broken;
	int r = handle_check(handle);

	if (r < 0)
		return r;
	if (!user || (user->n_groups && !user->groups))
		return error_say(-EINVAL, "uncore_admits() was not told which user.");
	r = copy_rules(handle, &rules);
	if (r < 0)
		return r;
	asked = (struct rules_user){ user->uid, user->gid, user->groups, user->n_groups };
	broken = rules_broken(&rules, &asked, RULE_SOCKET);
	return broken ? admits_refuse(broken, user->uid) : 0;
}
