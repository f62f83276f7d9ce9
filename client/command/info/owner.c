/* SPDX-License-Identifier: BSD-3-Clause */
/* uncore owner: before and after each job the batch system says which user has the node. */
#include <getopt.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/command/frame/command.h"
#include "client/command/frame/user.h"
#include "client/libuncore/uncore.h"
#include "client/records/json.h"
#include "common/macro.h"

struct options {
	const char *socket_path;
	const char *user; /* NULL: only show it */
	bool none;
};

static void write_help(void)
{
	printf("Usage: uncore owner [OPTION...] [USER]\n"
	       "Say that the node runs a job of USER (a name or a number) from now on; without\n"
	       "USER, show whose job it runs. Where uncored.conf has owner_only = yes, only the\n"
	       "owner and root may read, and everybody else is cut off at once. Only root may\n"
	       "change it; a batch system does so before and after each job.\n\n"
	       "      --none         it runs nobody's job\n"
	       "      --socket PATH  where uncored listens (default: $UNCORE_SOCKET, then\n"
	       "                     /run/uncored/socket)\n"
	       "  -h, --help\n\n"
	       "Exit status: 0; 1 if there is no such user, or uncored cannot be reached or\n"
	       "refuses; 2 for a wrong option.\n");
}

static int complain(const char *what)
{
	fprintf(stderr, "uncore owner: %s. See `uncore owner --help`.\n", what);
	return EXIT_USAGE;
}

/* Returns -1 to go on, or the exit status. */
static int parse_options(int argc, char **argv, struct options *options)
{
	static const struct option names[] = {
		{ "none", no_argument, NULL, 'n' },
		{ "socket", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	int letter;

	while ((letter = getopt_long(argc, argv, "h", names, NULL)) != -1) {
		switch (letter) {
		case 'n':
			options->none = true;
			break;
		case 's':
			options->socket_path = optarg;
			break;
		case 'h':
			write_help();
			return 0;
		default:
			fprintf(stderr, "See `uncore owner --help`.\n");
			return EXIT_USAGE;
		}
	}
	options->user = argv[optind];
	if (argc - optind > 1)
		return complain("one USER is enough");
	if (options->none && options->user)
		return complain("--none and USER contradict each other");
	return -1;
}

static int fail(void)
{
	fprintf(stderr, "uncore owner: %s\n", uncore_error_text());
	return EXIT_FAILED;
}

static int change(const struct options *options)
{
	uint32_t uid = UNCORE_NO_OWNER;

	if (options->user && user_find(options->user, &uid) < 0) {
		fprintf(stderr, "uncore owner: this machine has no user %s.\n", options->user);
		return EXIT_FAILED;
	}
	return uncore_set_owner(options->socket_path, uid) < 0 ? fail() : 0;
}

static void print_owner(uint32_t uid)
{
	printf("%s (%u)\n", user_name(uid), uid);
}

static int show(const struct options *options)
{
	_cleanup_free_ char *text = NULL;
	struct json_object *info, *policy;

	if (uncore_info(options->socket_path, &text) < 0)
		return fail();
	info = json_tokener_parse(text);
	policy = json_member(info, "policy");
	if (json_has(policy, "owner"))
		print_owner((uint32_t)json_object_get_int64(json_member(policy, "owner")));
	else
		printf("none\n");
	json_object_put(info);
	return 0;
}

int command_owner(int argc, char **argv)
{
	struct options options = { .socket_path = NULL };
	int status = parse_options(argc, argv, &options);

	if (status >= 0)
		return status;
	return options.user || options.none ? change(&options) : show(&options);
}
