/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/stat/stat-options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/frame/command.h"
#include "client/command/stat/until.h"
#include "client/launcher/launch.h"
#include "common/macro.h"
#include "common/number.h"

enum {
	INTERVAL_MS_MIN = 10,
	INTERVAL_MS_MAX = 3600000,
	REPEAT_MAX = 10000,
	/* With errors of a tenth from run to run, so many runs reach 1 %. */
	REPEAT_UNTIL = 100,
};
static const double UNTIL_LEAST = 0.01, UNTIL_MOST = 50; /* percent */

static void write_options(void)
{
	printf("  -I, --interval MS   also print every MS milliseconds (%d to %d)\n"
	       "  -r, --repeat N      run COMMAND N times (1 to %d), print mean, standard\n"
	       "                      deviation, median, minimum and maximum\n"
	       "      --until PERCENT run COMMAND until the standard error of every metric's mean "
	       "is\n"
	       "                      below PERCENT of it (%g to %g), %d times at least and N "
	       "times\n"
	       "                      at most (-r; %d without it)\n"
	       "      --first-of-node measure in the first rank of this node only; the others run\n"
	       "                      COMMAND without any measurement\n"
	       "      --anyway        run COMMAND even if nothing can be measured\n",
		INTERVAL_MS_MIN, INTERVAL_MS_MAX, REPEAT_MAX, UNTIL_LEAST, UNTIL_MOST,
		UNTIL_RUNS_MIN, REPEAT_UNTIL);
	printf("  -j, --json          print JSON; with -I one object per line\n"
	       "      --csv           print CSV\n"
	       "  -o, --output FILE   print to FILE; in its name %%h is the host, %%r the rank, "
	       "%%j "
	       "the\n"
	       "                      job, %%p the process id and %%%% a %%\n"
	       "      --socket PATH   where uncored listens (default: $UNCORE_SOCKET, then\n"
	       "                      /run/uncored/socket)\n"
	       "  -h, --help\n");
}

static void write_help(void)
{
	printf("Usage: uncore stat [OPTION...] [--] COMMAND [ARGUMENT...]\n"
	       "Run COMMAND and count what each socket's memory did meanwhile (all of it, not "
	       "only\n"
	       "for COMMAND). Figures go to stderr.\n\n");
	write_options();
	printf("\nExit status: COMMAND's; 128 + n if signal n ended it; 127 if it was not found, "
	       "126\n"
	       "if it could not be run; 125 if nothing could be measured or the figures could "
	       "not be\n"
	       "written, though COMMAND, if it was run at all, ended with 0 (never with "
	       "--anyway);\n"
	       "2 for a wrong option.\n");
}

static bool take_number(const char *what, int min, int max, uint64_t *ret)
{
	uint64_t number;

	if (number_parse_whole(optarg, 10, (uint64_t)max, &number) && number >= (uint64_t)min) {
		*ret = number;
		return true;
	}
	fprintf(stderr, "uncore stat: %s is a number from %d to %d, not %s.\n", what, min, max,
		optarg);
	return false;
}

static bool take_until(struct stat_options *options)
{
	double percent;

	if (number_parse_percent(optarg, &percent) && percent >= UNTIL_LEAST &&
		percent <= UNTIL_MOST) {
		options->until = percent;
		return true;
	}
	fprintf(stderr, "uncore stat: --until PERCENT is a number from %g to %g, not %s.\n",
		UNTIL_LEAST, UNTIL_MOST, optarg);
	return false;
}

static bool take_output(struct stat_options *options)
{
	int r;

	free(take_ptr(options->output_path));
	r = launch_expand(optarg, &options->output_path);
	if (r == 0)
		return true;
	if (r == -EINVAL)
		fprintf(stderr,
			"uncore stat: in the name of a FILE, %%h, %%r, %%j, %%p and %%%% are "
			"replaced; %s has another %%.\n",
			optarg);
	else
		fprintf(stderr, "uncore stat: cannot make a name of %s: %s.\n", optarg,
			strerror(-r));
	return false;
}

static bool take_form(enum stat_form form, struct stat_options *options)
{
	if (options->form == STAT_TABLE || options->form == form) {
		options->form = form;
		return true;
	}
	fputs("uncore stat: choose one of --json and --csv.\n", stderr);
	return false;
}

/* Returns -1 to go on, or the exit status. */
static int take_option(int letter, struct stat_options *options)
{
	bool good = true;

	if (letter == 'I')
		good = take_number(
			"-I MS", INTERVAL_MS_MIN, INTERVAL_MS_MAX, &options->interval_ms);
	else if (letter == 'r')
		good = take_number("-r N", 1, REPEAT_MAX, &options->repeat);
	else if (letter == 'u')
		good = take_until(options);
	else if (letter == 'j')
		good = take_form(STAT_JSON, options);
	else if (letter == 'c')
		good = take_form(STAT_CSV, options);
	else if (letter == 'o')
		good = take_output(options);
	else if (letter == 's')
		options->socket_path = optarg;
	else if (letter == 'f')
		options->first_of_node = true;
	else
		options->anyway = true;
	return good ? -1 : EXIT_USAGE;
}

/* Options that exclude each other: -1, or the exit status with a sentence for the user. */
static int check(struct stat_options *options)
{
	if (!*options->command) {
		fputs("uncore stat: no command to run; say `uncore stat -- COMMAND`.\n", stderr);
		return EXIT_USAGE;
	}
	if (options->first_of_node && (options->until > 0 || options->repeat > 1)) {
		fputs("uncore stat: --first-of-node goes with a single run, because the ranks of "
		      "a job start together; to repeat the job, say `uncore stat -r N -- mpirun "
		      "...`.\n",
			stderr);
		return EXIT_USAGE;
	}
	if (!options->repeat)
		options->repeat = options->until > 0 ? REPEAT_UNTIL : 1;
	if (options->until > 0 && options->repeat < UNTIL_RUNS_MIN) {
		fprintf(stderr, "uncore stat: with --until, -r N is at least %d.\n",
			UNTIL_RUNS_MIN);
		return EXIT_USAGE;
	}
	return -1;
}

int stat_options_parse(int argc, char **argv, struct stat_options *ret)
{
	static const struct option names[] = {
		{ "interval", required_argument, NULL, 'I' },
		{ "repeat", required_argument, NULL, 'r' },
		{ "until", required_argument, NULL, 'u' },
		{ "first-of-node", no_argument, NULL, 'f' },
		{ "anyway", no_argument, NULL, 'a' },
		{ "json", no_argument, NULL, 'j' },
		{ "csv", no_argument, NULL, 'c' },
		{ "output", required_argument, NULL, 'o' },
		{ "socket", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	int letter, status = -1;

	*ret = (struct stat_options){ .form = STAT_TABLE };
	/* "+": the first word that is no option is the command, whose options are its own. */
	while (status < 0 && (letter = getopt_long(argc, argv, "+I:r:jo:h", names, NULL)) != -1) {
		if (letter == 'h') {
			write_help();
			return 0;
		}
		if (letter == '?') {
			fputs("See `uncore stat --help`.\n", stderr);
			return EXIT_USAGE;
		}
		status = take_option(letter, ret);
	}
	ret->command = argv + optind;
	return status < 0 ? check(ret) : status;
}

void stat_options_done(struct stat_options *options)
{
	free(take_ptr(options->output_path));
}
