/* SPDX-License-Identifier: BSD-3-Clause */
/* uncore owner: before and after each job, the batch system says which user has the node. */
#include <getopt.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/command/frame/command.h"
#include "client/command/frame/user.h"
#include "client/command/info/info-options.h"
#include "client/libuncore/uncore.h"
#include "client/records/json.h"
#include "common/macro.h"

/* Returns -1 to go on, or the exit status. */
static int parse_options(int argc, char **argv, struct owner_options *options)
{
	int status = option_parse(&owner_table, argc, argv, options, NULL);

	if (status >= 0)
		return status;
	options->user = argv[optind];
	if (argc - optind > 1)
		return option_complain(&owner_table, "it takes one USER");
	if (options->none && options->user)
		return option_complain(&owner_table, "--none and USER exclude each other");
	return -1;
}

static int fail(void)
{
	fprintf(stderr, "uncore owner: %s\n", uncore_error_text());
	return EXIT_FAILED;
}

static int change(const struct owner_options *options)
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

static int show(const struct owner_options *options)
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
	struct owner_options options = { .socket_path = NULL };
	int status = parse_options(argc, argv, &options);

	if (status >= 0)
		return status;
	return options.user || options.none ? change(&options) : show(&options);
}
