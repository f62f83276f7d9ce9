/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/export/export-options.h"

#include <getopt.h>
#include <stdio.h>

#include "client/command/frame/command.h"
#include "common/number.h"

enum { EVERY_MAX = 3600 };

static void write_help(void)
{
	printf("Usage: uncore export [OPTION...]\n"
	       "Print the counters of all sockets as text for Prometheus.\n\n"
	       "  -o, --output FILE     replace FILE at once, for node_exporter's textfile "
	       "collector\n"
	       "      --http            answer requests for /metrics on the listening sockets, or\n"
	       "                        the connection, that systemd or inetd passes\n"
	       "      --channels        also print the counters of each memory channel\n"
	       "      --clustercockpit  print the bandwidth of each socket during one second, in\n"
	       "                        InfluxDB's line protocol, as ClusterCockpit reads it\n"
	       "      --every SECONDS   with --clustercockpit: that of each SECONDS, 1 to %d, for "
	       "ever\n"
	       "      --socket PATH     where uncored listens (default: $UNCORE_SOCKET, then\n"
	       "                        /run/uncored/socket)\n"
	       "  -h, --help\n\n"
	       "Exit status: 0, also if uncored gives no values, which the output then says; 1 if "
	       "the\n"
	       "output cannot be written; 2 for a wrong option.\n",
		EVERY_MAX);
}

static int complain(const char *what)
{
	fprintf(stderr, "uncore export: %s. See `uncore export --help`.\n", what);
	return EXIT_USAGE;
}

static int take_every(struct export_options *options)
{
	if (number_parse_whole(optarg, 10, EVERY_MAX, &options->every_s) && options->every_s)
		return -1;
	fprintf(stderr, "uncore export: --every SECONDS is a number from 1 to %d, not %s.\n",
		EVERY_MAX, optarg);
	return EXIT_USAGE;
}

/* Options that exclude each other: -1, or the exit status with a sentence for the user. */
static int check(const struct export_options *options)
{
	if (options->http && (options->clustercockpit || options->output_path))
		return complain("--http answers with text for Prometheus, on its connection");
	if (options->wish.channels && options->clustercockpit)
		return complain("--clustercockpit has the bandwidth of sockets, not of channels");
	if (options->every_s && !options->clustercockpit)
		return complain("--every goes with --clustercockpit; for Prometheus use a timer");
	return -1;
}

/* Returns -1 to go on, or the exit status. */
static int take_option(int letter, struct export_options *options)
{
	switch (letter) {
	case 'o':
		options->output_path = optarg;
		break;
	case 'p':
		options->http = options->wish.hurried = true;
		break;
	case 'c':
		options->clustercockpit = true;
		break;
	case 'n':
		options->wish.channels = true;
		break;
	case 'e':
		return take_every(options);
	case 's':
		options->wish.socket_path = optarg;
		break;
	case 'h':
		write_help();
		return 0;
	default:
		fputs("See `uncore export --help`.\n", stderr);
		return EXIT_USAGE;
	}
	return -1;
}

int export_options_parse(int argc, char **argv, struct export_options *ret)
{
	static const struct option names[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "http", no_argument, NULL, 'p' },
		{ "channels", no_argument, NULL, 'n' },
		{ "clustercockpit", no_argument, NULL, 'c' },
		{ "every", required_argument, NULL, 'e' },
		{ "socket", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{},
	};
	int letter, status = -1;

	*ret = (struct export_options){ .every_s = 0 };
	while (status < 0 && (letter = getopt_long(argc, argv, "o:h", names, NULL)) != -1)
		status = take_option(letter, ret);
	if (status >= 0)
		return status;
	ret->wish.report = UNCORE_WITH_JSON && !ret->clustercockpit;
	return optind < argc ? complain("it takes options only") : check(ret);
}
