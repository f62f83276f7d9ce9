/* SPDX-License-Identifier: BSD-3-Clause */
/* uncore owner: before and after each job, the batch system says which user has the node. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/command/frame/command.h"
#include "client/command/frame/user.h"
#include "client/command/info/info.h"
#include "client/libuncore/uncore.h"
#include "common/macro.h"

/* Returns -1 to go on, or the exit status. */
static int owner_parse_options(int argc, char **argv, struct owner_options *options)
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

static int owner_fail(void)
{
	fprintf(stderr, "uncore owner: %s\n", uncore_error_text());
	return EXIT_FAILED;
}

static int owner_change(const struct owner_options *options)
{
	uint32_t uid = UNCORE_NO_OWNER;

	if (options->user && !user_take(owner_table.command, options->user, &uid))
		return EXIT_FAILED;
	return uncore_set_owner(options->socket_path, uid) < 0 ? owner_fail() : 0;
}

static void print_owner(uint32_t uid)
{
	printf("%s (%u)\n", user_name(uid), uid);
}

static int owner_show(const struct owner_options *options)
{
	_cleanup_(json_document_done) struct json_document document = { .text = NULL };
	const struct json_value *policy;
	char *text = NULL;

	if (uncore_info(options->socket_path, &text) < 0)
		return owner_fail();
	policy = json_member(json_document_take(&document, text), "policy");
	if (json_has(policy, "owner"))
		print_owner((uint32_t)json_number(policy, "owner"));
	else
		printf("none\n");
	return 0;
}

int command_owner(int argc, char **argv)
{
	struct owner_options options = { .socket_path = NULL };
	int status = owner_parse_options(argc, argv, &options);

	if (status >= 0)
		return status;
	return options.user || options.none ? owner_change(&options) : owner_show(&options);
}
