/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent as a daemon, which pmcd starts. */
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/macro.h"
#include "pmda/agent.h"
#include "pmda/domain.h"

static pmLongOptions long_options[] = {
	PMDA_OPTIONS_HEADER("Options"),
	PMOPT_DEBUG,
	PMDAOPT_DOMAIN,
	PMDAOPT_HELPTEXT,
	PMDAOPT_LOGFILE,
	{ "socket", 1, 's', "PATH", "where uncored listens, rather than /run/uncored/socket" },
	PMDAOPT_USERNAME,
	{ "admits", 1, 'a', "USER",
		"say whether uncored's rules let USER read, or everybody ('*'), and end" },
	PMOPT_HELP,
	PMDA_OPTIONS_TEXT("\nExactly one of the following options may appear:"),
	PMDAOPT_INET,
	PMDAOPT_PIPE,
	PMDAOPT_UNIX,
	PMDAOPT_IPV6,
	PMDA_OPTIONS_END,
};

static pmdaOptions options = {
	.short_options = "a:D:d:h:i:l:ps:u:U:6:?",
	.long_options = long_options,
};

/* The agent's own options; PCP puts the others into the interface. */
struct choice {
	const char *socket_path;
	char *username;
	const char *asked; /* the user that --admits asks about; NULL: run */
};

static struct choice pmda_parse_options(int argc, char **argv, pmdaInterface *interface)
{
	struct choice choice = { 0 };
	int letter;

	while ((letter = pmdaGetOptions(argc, argv, &options, interface)) != EOF) {
		if (letter == 's')
			choice.socket_path = options.optarg;
		else if (letter == 'a')
			choice.asked = options.optarg;
	}
	if (!options.errors && options.optind < argc) {
		pmprintf("%s: There is one argument too many: %s\n", pmGetProgname(),
			argv[options.optind]);
		options.errors++;
	}
	if (options.errors) {
		pmdaUsageMessage(&options);
		exit(1);
	}
	choice.username = options.username;
	if (!choice.username)
		pmGetUsername(&choice.username);
	return choice;
}

/* --- --admits: Install must know the answer before it changes anything --- */

enum admits_answer { ADMITS, ADMITS_NOT, ADMITS_UNKNOWN };

static bool pmda_find_user(const char *name, gid_t groups[NGROUPS_MAX], struct uncore_user *ret)
{
	const struct passwd *user = getpwnam(name);
	int n = NGROUPS_MAX;

	if (!user || getgrouplist(name, user->pw_gid, groups, &n) < 0)
		return false;
	*ret = (struct uncore_user){ user->pw_uid, user->pw_gid, (uint32_t)n, groups };
	return true;
}

static enum admits_answer pmda_say(enum admits_answer answer, const char *why)
{
	puts(why);
	return answer;
}

static enum admits_answer pmda_ask_uncored(const char *socket_path, const struct uncore_user *user)
{
	struct uncore *handle;
	int r = uncore_open(socket_path, &handle);

	if (r < 0)
		return pmda_say(ADMITS_UNKNOWN, uncore_error_text());
	r = uncore_admits(handle, user);
	uncore_close(handle);
	if (r >= 0)
		return ADMITS;
	return pmda_say(r == -EACCES ? ADMITS_NOT : ADMITS_UNKNOWN, uncore_error_text());
}

/* Answers --admits about a user, or about everybody ("*"). Prints the reason if the answer is not
 * ADMITS. The rules apply to root, too, as they do to pmcd's client. */
static enum admits_answer answer_for(const char *socket_path, const char *name)
{
	struct uncore_user user = { UNCORE_UNKNOWN_USER, UNCORE_UNKNOWN_USER, 0, NULL };
	_cleanup_free_ gid_t *groups = calloc(NGROUPS_MAX, sizeof *groups);

	if (groups && (!strcmp(name, "*") || pmda_find_user(name, groups, &user)))
		return pmda_ask_uncored(socket_path, &user);
	return pmda_say(ADMITS_UNKNOWN, "There is no such user.");
}

/* --- the daemon --- */

/* Takes the user's groups, too, unlike PCP's function: a site may let only a group read. */
static void become(const char *username)
{
	const struct passwd *user = getpwnam(username);

	if (user && initgroups(username, user->pw_gid) < 0)
		pmNotifyErr(LOG_WARNING, "Cannot take the groups of user %s: %s", username,
			osstrerror());
	pmSetProcessIdentity(username);
}

/* A pmcd without root cannot start the agent as another user; uncored then applies its rules to the
 * user that the agent has. */
static void warn_unless_become(const char *username)
{
	const struct passwd *user = getpwnam(username);

	if (!user || user->pw_uid != geteuid())
		pmNotifyErr(LOG_WARNING,
			"This agent should run as %s, but pmcd started it as user %u, and not as "
			"root: is PMCD_ROOT_AGENT=1?",
			username, (unsigned)geteuid());
}

int main(int argc, char **argv)
{
	pmdaInterface interface;
	struct choice choice;

	pmSetProgname(argv[0]);
	pmdaDaemon(&interface, PMDA_INTERFACE_7, pmGetProgname(), UNCORE, "uncore.log",
		agent_help_path());
	choice = pmda_parse_options(argc, argv, &interface);
	if (choice.asked)
		return (int)answer_for(choice.socket_path, choice.asked);
	if (geteuid() == 0)
		become(choice.username);
	pmdaOpenLog(&interface); /* not as root: other users may write to its folder */
	if (options.username)
		warn_unless_become(options.username);
	agent_start(&interface, choice.socket_path, false); /* its flags go to pmcd on connecting */
	pmdaConnect(&interface);
	pmdaMain(&interface);
	return 0;
}
