/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/report/report-options.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "client/command/frame/command.h"
#include "client/command/frame/user.h"
#include "client/libuncore/uncore.h"

/* The functions below return -1 to go on, or the exit status. */

static int take_user(const char *text, struct report_options *options)
{
	if (user_find(text, &options->uid) == 0)
		return -1;
	fprintf(stderr, "uncore report: this machine has no user %s.\n", text);
	return EXIT_FAILED;
}

static int take_trust(const char *text, struct report_options *options)
{
	return trust_add(&options->trust, report_table.command, text) ? -1 : EXIT_FAILED;
}

static int take_csv(const char *text, struct report_options *options)
{
	(void)text;
	options->output = REPORT_CSV;
	return -1;
}

static int take_json(const char *text, struct report_options *options)
{
	(void)text;
	options->output = REPORT_JSON;
	return -1;
}

static int take_option(const struct option_row *row, const char *text, void *options)
{
	static const struct {
		const char *name;
		int (*take)(const char *text, struct report_options *options);
	} takers[] = {
		{ "user", take_user },
		{ "trust", take_trust },
		{ "csv", take_csv },
		{ "json", take_json },
	};
	size_t i = 0;

	while (strcmp(takers[i].name, row->name) != 0)
		i++;
	return takers[i].take(text, options);
}

static int parse_hosts(struct report_options *options)
{
	if (!options->host_list)
		return -1;
	switch (hostlist_parse(options->host_list, &options->hosts)) {
	case 0:
		return -1;
	case -E2BIG:
		return option_complain(&report_table, "--hosts has too many hosts");
	default:
		return option_complain(&report_table,
			"--hosts takes a list like n[01-03,7],login1, and got \"%s\"",
			options->host_list);
	}
}

/* Some options need files, and the others need their absence. */
static int check(struct report_options *options)
{
	bool of_kept = options->keep || options->running || options->uid != UNCORE_UNKNOWN_USER;

	if (options->n_paths && of_kept)
		return option_complain(&report_table,
			"--keep, --running and --user are about the jobs that uncored keeps: "
			"leave out FILE");
	if (!options->n_paths && (options->nodes || options->host_list || options->trust.n))
		return option_complain(
			&report_table, "--hosts, --nodes and --trust need a FILE or DIR");
	return parse_hosts(options);
}

int report_options_parse(int argc, char **argv, struct report_options *ret)
{
	int status;

	*ret = (struct report_options){ .output = REPORT_TABLE, .uid = UNCORE_UNKNOWN_USER };
	status = option_parse(&report_table, argc, argv, ret, take_option);
	ret->paths = argv + optind;
	ret->n_paths = argc - optind;
	return status < 0 ? check(ret) : status;
}
