/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/papers/runner/options.h"

#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"

enum { BASE = 10, USAGE = 2 };

static const char HELP[] =
	"Usage: run-kernel [OPTION...] KERNEL...\n"
	"Runs kernels of known memory traffic and prints, for each, a line of values with commas:\n"
	"what the counters say that it moved, in bytes, and what its model says.\n"
	"\n"
	"  --list           print the kernels with their streams, and run none\n"
	"  --predict        print what the models say, and run none\n"
	"  --cache BYTES    last-level cache that one rank can use (1048576): sizes follow\n"
	"  --number N       the size, in the measure that --list shows\n"
	"  --rows N, --columns N, --halo N, --planes N, --n N, --sets N\n"
	"                   parts of it, where the kernel's own choice is not wanted\n"
	"  --passes N       passes that are counted (1); one more comes before, uncounted\n"
	"  --skip ROWS      of a loop of the CloverLeaf paper: one pass, but these rows uncounted\n"
	"  --flush BYTES    instead of a pass before, read so many bytes of memory that nothing\n"
	"                   writes; and again before the last reading of the counters\n"
	"  --dirty BYTES    instead of a pass before, write so many bytes of other memory\n"
	"  --ranks N        threads, each with arrays of its own (1)\n"
	"  --parts N        ranks that lie side by side and divide the columns (1)\n"
	"  --turns          ranks take turns, row by row: for a simulator, which has no time\n"
	"  --bind           bind each rank to a CPU, in the order of their numbers\n"
	"\n"
	"Counts are those of uncored, or of a simulator whose file TRAFFIC_COUNTERS names.\n";

struct number {
	const char *name;
	size_t *value;
};

static size_t read_number(const char *option, const char *text)
{
	char *end;
	unsigned long number;

	errno = 0;
	number = strtoul(text, &end, BASE);
	if (errno || end == text || *end || *text == '-')
		errx(USAGE, "--%s takes a number, not '%s'.", option, text);
	return number;
}

static void apply(const struct option *option, const char *argument, struct options *options)
{
	const struct number numbers[] = {
		{ "cache", &options->cache_bytes },
		{ "number", &options->number },
		{ "rows", &options->size.rows },
		{ "columns", &options->size.columns },
		{ "halo", &options->size.halo },
		{ "planes", &options->size.planes },
		{ "n", &options->size.n },
		{ "sets", &options->size.sets },
		{ "passes", &options->n_passes },
		{ "skip", &options->skip_rows },
		{ "flush", &options->flush_bytes },
		{ "dirty", &options->dirty_bytes },
		{ "ranks", &options->n_ranks },
		{ "parts", &options->n_parts },
	};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (strcmp(option->name, numbers[i].name) == 0)
			*numbers[i].value = read_number(option->name, argument);
}

static void check(const struct options *options)
{
	if (!options->list && !*options->names)
		errx(USAGE, "Name a kernel; run-kernel --list shows them.");
	if (!options->n_ranks || !options->n_parts || !options->n_passes || !options->cache_bytes)
		errx(USAGE, "--ranks, --parts, --passes and --cache are at least 1.");
	if (options->skip_rows && options->n_passes > 1)
		errx(USAGE, "With --skip one pass is counted, without its first rows.");
	if (options->n_parts > 1 && !options->size.rows)
		errx(USAGE, "With --parts say --rows, so that all ranks have as many.");
	if (!!options->skip_rows + !!options->flush_bytes + !!options->dirty_bytes > 1)
		errx(USAGE, "One of --skip, --flush and --dirty says what comes before the pass.");
}

void options_read(int argc, char *argv[], struct options *ret)
{
	int turns = 0, bind = 0, list = 0, predict = 0, help = 0, c, index;
	const struct option table[] = {
		{ "cache", required_argument, NULL, 'n' },
		{ "number", required_argument, NULL, 'n' },
		{ "rows", required_argument, NULL, 'n' },
		{ "columns", required_argument, NULL, 'n' },
		{ "halo", required_argument, NULL, 'n' },
		{ "planes", required_argument, NULL, 'n' },
		{ "n", required_argument, NULL, 'n' },
		{ "sets", required_argument, NULL, 'n' },
		{ "passes", required_argument, NULL, 'n' },
		{ "skip", required_argument, NULL, 'n' },
		{ "flush", required_argument, NULL, 'n' },
		{ "dirty", required_argument, NULL, 'n' },
		{ "ranks", required_argument, NULL, 'n' },
		{ "parts", required_argument, NULL, 'n' },
		{ "turns", no_argument, &turns, 1 },
		{ "predict", no_argument, &predict, 1 },
		{ "bind", no_argument, &bind, 1 },
		{ "list", no_argument, &list, 1 },
		{ "help", no_argument, &help, 1 },
		{},
	};

	*ret = (struct options){
		.n_ranks = 1, .n_parts = 1, .n_passes = 1, .cache_bytes = 1 << 20
	};
	while ((c = getopt_long(argc, argv, "", table, &index)) != -1) {
		if (c == '?')
			exit(USAGE);
		if (c == 'n')
			apply(&table[index], optarg, ret);
	}
	if (help) {
		fputs(HELP, stdout);
		exit(EXIT_SUCCESS);
	}
	ret->turns = turns;
	ret->bind = bind;
	ret->predict = predict;
	ret->list = list;
	ret->names = argv + optind;
	check(ret);
}
