/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/report/report-options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>

#include "client/command/frame/command.h"
#include "client/command/frame/user.h"
#include "client/libuncore/uncore.h"

static void write_help(void)
{
	printf("Usage: uncore report [OPTION...]\n"
	       "       uncore report [OPTION...] FILE|DIR...\n"
	       "Without FILE, show the regions of your jobs on this node that ended and have no\n"
	       "report yet, for example because all processes were killed. uncored keeps them for\n"
	       "an hour, and forgets those that were shown.\n\n"
	       "      --keep        do not have them forgotten\n"
	       "      --running     show also what jobs that run did so far\n"
	       "      --user USER   the jobs of USER, a name or a number (root)\n\n"
	       "With FILE, show the regions of a program or job from the JSON that it left\n"
	       "(UNCORE_REPORT). Of several files, and of all files *.json and *.json.N in a DIR,\n"
	       "show the sum of all nodes, each node, and how far the nodes differ. Records of "
	       "one\n"
	       "host are never summed: runs one after the other have a row each.\n\n"
	       "      --hosts LIST  the nodes that the job had, as Slurm writes them\n"
	       "                    (n[01-03,7],login1); name those that left no file\n"
	       "      --trust USER  in a DIR also believe files of USER, a name or a number; as\n"
	       "                    often as there are such users (default: root and yourself)\n"
	       "      --nodes       each region of each node, however many there are\n\n"
	       "With or without FILE:\n\n"
	       "      --csv         a line for each node, region, socket and metric\n"
	       "  -j, --json        JSON, as uncore-report(5) describes it\n"
	       "  -h, --help\n\n"
	       "Exit status: 0, also if there is no job to show; 1 if a file could not be read, a\n"
	       "host is missing, uncored cannot be reached or refuses, or the output could not be\n"
	       "written; 2 for a wrong option.\n");
}

static int complain(const char *what)
{
	fprintf(stderr, "uncore report: %s. See `uncore report --help`.\n", what);
	return EXIT_USAGE;
}

/* Returns -1 to go on, or the exit status. */
static int take_hosts(const char *text, struct report_options *options)
{
	hostlist_done(&options->hosts);
	switch (hostlist_parse(text, &options->hosts)) {
	case 0:
		return -1;
	case -E2BIG:
		return complain("--hosts has too many hosts");
	default:
		return complain("--hosts needs a list like n[01-03,7],login1");
	}
}

static int take_user(const char *text, struct report_options *options)
{
	if (user_find(text, &options->uid) == 0)
		return -1;
	fprintf(stderr, "uncore report: this machine has no user %s.\n", text);
	return EXIT_FAILED;
}

static int take_option(int letter, struct report_options *options)
{
	switch (letter) {
	case 'o':
		return take_hosts(optarg, options);
	case 'u':
		return take_user(optarg, options);
	case 't':
		return trust_add(&options->trust, "uncore report", optarg) ? -1 : EXIT_FAILED;
	case 'n':
		options->nodes = true;
		return -1;
	case 'k':
		options->keep = true;
		return -1;
	case 'r':
		options->running = true;
		return -1;
	case 'c':
		options->output = REPORT_CSV;
		return -1;
	case 'j':
		options->output = REPORT_JSON;
		return -1;
	case 'h':
		write_help();
		return 0;
	default:
		fprintf(stderr, "See `uncore report --help`.\n");
		return EXIT_USAGE;
	}
}

/* Half of the options need files, the other half their absence. */
static int check(const struct report_options *options)
{
	bool of_kept = options->keep || options->running || options->uid != UNCORE_UNKNOWN_USER;

	if (options->n_paths && of_kept)
		return complain("--keep, --running and --user are about the jobs that uncored "
				"keeps: leave out FILE");
	if (!options->n_paths && (options->nodes || options->hosts.n_names || options->trust.n))
		return complain("--hosts, --nodes and --trust need a FILE or DIR");
	return -1;
}

int report_options_parse(int argc, char **argv, struct report_options *ret)
{
	static const struct option names[] = {
		{ "hosts", required_argument, NULL, 'o' },
		{ "trust", required_argument, NULL, 't' },
		{ "nodes", no_argument, NULL, 'n' },
		{ "keep", no_argument, NULL, 'k' },
		{ "running", no_argument, NULL, 'r' },
		{ "user", required_argument, NULL, 'u' },
		{ "csv", no_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	int letter, status = -1;

	*ret = (struct report_options){ .output = REPORT_TABLE, .uid = UNCORE_UNKNOWN_USER };
	while (status < 0 && (letter = getopt_long(argc, argv, "jh", names, NULL)) != -1)
		status = take_option(letter, ret);
	ret->paths = argv + optind;
	ret->n_paths = argc - optind;
	return status < 0 ? check(ret) : status;
}
