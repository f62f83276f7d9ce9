/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmda/admits.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "client/libuncore/uncore.h"

static bool find_user(const char *name, gid_t groups[NGROUPS_MAX], struct uncore_user *ret)
{
	const struct passwd *user = getpwnam(name);
	int n = NGROUPS_MAX;

	if (!user || getgrouplist(name, user->pw_gid, groups, &n) < 0)
		return false;
	*ret = (struct uncore_user){ user->pw_uid, user->pw_gid, (uint32_t)n, groups };
	return true;
}

static enum admits_answer say(enum admits_answer answer, const char *why)
{
	puts(why);
	return answer;
}

/* An older uncored does not tell its rules. Then the agent tells everybody. */
static enum admits_answer ask(const char *socket_path, const struct uncore_user *user)
{
	struct uncore *handle;
	int r = uncore_open(socket_path, &handle);

	if (r < 0)
		return say(ADMITS_UNKNOWN, uncore_error_text());
	r = uncore_admits(handle, user);
	uncore_close(handle);
	if (r >= 0 || r == -EOPNOTSUPP)
		return ADMITS;
	return say(r == -EACCES ? ADMITS_NOT : ADMITS_UNKNOWN, uncore_error_text());
}

enum admits_answer admits_say(const char *socket_path, const char *name)
{
	struct uncore_user user = { UNCORE_UNKNOWN_USER, UNCORE_UNKNOWN_USER, 0, NULL };
	gid_t *groups = calloc(NGROUPS_MAX, sizeof *groups);
	enum admits_answer answer;

	if (groups && (!strcmp(name, "*") || find_user(name, groups, &user)))
		answer = ask(socket_path, &user);
	else
		answer = say(ADMITS_UNKNOWN, "There is no such user.");
	free(groups);
	return answer;
}
