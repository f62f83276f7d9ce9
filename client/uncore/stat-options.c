/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/uncore/stat-options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/uncore/command.h"
#include "common/number.h"

enum { INTERVAL_MS_MIN = 10, INTERVAL_MS_MAX = 3600000, REPEAT_MAX = 10000 };

static void write_help(void)
{
	printf("Usage: uncore stat [OPTION...] [--] COMMAND [ARGUMENT...]\n"
	       "Run COMMAND and count what each socket's memory did meanwhile (all of it, not "
	       "only\n"
	       "for COMMAND). Figures go to stderr.\n\n"
	       "  -I, --interval MS   also print every MS milliseconds (%d to %d)\n"
	       "  -r, --repeat N      run COMMAND N times (1 to %d), print mean and standard\n"
	       "                      deviation\n"
	       "  -j, --json          print JSON; with -I one object per line\n"
	       "  -o, --output FILE   print to FILE\n"
	       "      --socket PATH   where uncored listens (default: $UNCORE_SOCKET, then\n"
	       "                      /run/uncored/socket)\n"
	       "  -h, --help\n\n"
	       "Exit status: COMMAND's; 128 + n if signal n ended it; 127 if it was not found, "
	       "126\n"
	       "if it could not be run; 125 if nothing could be measured or the figures could "
	       "not be\n"
	       "written, though COMMAND, if it was run at all, ended with 0; 2 for a wrong "
	       "option.\n",
		INTERVAL_MS_MIN, INTERVAL_MS_MAX, REPEAT_MAX);
}

static bool parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *ret)
{
	uint64_t number;

	if (!number_parse_whole(text, 10, max, &number) || number < min)
		return false;
	*ret = number;
	return true;
}

static bool take_number(const char *what, int min, int max, uint64_t *ret)
{
	if (parse_number(optarg, (uint64_t)min, (uint64_t)max, ret))
		return true;
	fprintf(stderr, "uncore stat: %s is a number from %d to %d, not %s.\n", what, min, max,
		optarg);
	return false;
}

/* Returns -1 to go on, or the exit status. */
static int take_option(int letter, struct stat_options *options)
{
	switch (letter) {
	case 'I':
		return take_number("-I MS", INTERVAL_MS_MIN, INTERVAL_MS_MAX, &options->interval_ms)
			       ? -1
			       : EXIT_USAGE;
	case 'r':
		return take_number("-r N", 1, REPEAT_MAX, &options->repeat) ? -1 : EXIT_USAGE;
	case 'j':
		options->json = true;
		return -1;
	case 'o':
		options->output_path = optarg;
		return -1;
	case 's':
		options->socket_path = optarg;
		return -1;
	case 'h':
		write_help();
		return 0;
	default:
		fprintf(stderr, "See `uncore stat --help`.\n");
		return EXIT_USAGE;
	}
}

int stat_options_parse(int argc, char **argv, struct stat_options *ret)
{
	static const struct option names[] = {
		{ "interval", required_argument, NULL, 'I' },
		{ "repeat", required_argument, NULL, 'r' },
		{ "json", no_argument, NULL, 'j' },
		{ "output", required_argument, NULL, 'o' },
		{ "socket", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	int letter, status;

	*ret = (struct stat_options){ .repeat = 1 };
	/* "+": the first word that is no option is the command, whose options are its own. */
	while ((letter = getopt_long(argc, argv, "+I:r:jo:h", names, NULL)) != -1) {
		status = take_option(letter, ret);
		if (status >= 0)
			return status;
	}
	ret->command = argv + optind;
	if (*ret->command)
		return -1;
	fprintf(stderr, "uncore stat: no command to run; say `uncore stat -- COMMAND`.\n");
	return EXIT_USAGE;
}
