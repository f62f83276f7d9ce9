/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of options: what it takes, what it refuses and how it says so. */
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "common/macro.h"
#include "common/nearest.h"
#include "common/option.h"
#include "tests/harness/test.h"

struct values {
	bool quick, quiet;
	const char *file, *taken;
	uint64_t count, size, time_ns;
	double share;
	struct option_numbers list;
};

static const struct option_row rows[] = {
	{ "quick", 'q', OPTION_FLAG, NULL, "be quick", OPTION_AT(values, quick) },
	{ "quiet", 0, OPTION_FLAG, NULL, "be quiet", OPTION_AT(values, quiet) },
	{ "file", 'f', OPTION_TEXT, "FILE", "print to FILE", OPTION_AT(values, file) },
	{ "count", 'n', OPTION_NUMBER, "N", "do it N times", OPTION_AT(values, count), 2, 1000 },
	{ "share", 0, OPTION_PERCENT, "PERCENT", "a share", OPTION_AT(values, share), 0.5, 20 },
	{ "size", 0, OPTION_BYTES, "SIZE", "a size", OPTION_AT(values, size), 65536,
		UINT64_C(1) << 36 },
	{ "time", 0, OPTION_TIME, "TIME", "a time", OPTION_AT(values, time_ns), 20e6, 3600e9 },
	{ "list", 0, OPTION_NUMBERS, "LIST", "numbers", OPTION_AT(values, list), 1, 1024 },
	{ "taken", 0, OPTION_TAKEN, "WORD", "a word, but not \"no\"" },
};
static const struct option_table sub = { .command = "try begin", .brief = "begin it" };
static const struct option_table *const subcommands[] = { &sub, NULL };
static const struct option_table table = {
	.command = "try",
	.usage = "[OPTION...]\nbegin",
	.about = "Try it.",
	OPTION_ROWS(rows),
};
static const struct option_table whole = {
	.command = "try",
	.usage = "COMMAND [OPTION...]\n--quick|--help",
	.about = "Try it.",
	OPTION_ROWS(rows),
	.subcommands = subcommands,
};

static int take(const struct option_row *row, const char *text, void *options)
{
	struct values *values = options;

	values->taken = text;
	return strcmp(text, "no") == 0 ? option_complain(&table, "--%s is not for no", row->name)
				       : -1;
}

/* Parses the words of @line; @ret_said is what was written to stdout and stderr. */
static int parse(const char *line, struct values *ret, char ret_said[4096])
{
	static char words[256];
	char *argv[32] = { words }, *rest;
	int argc = 0, out = dup(1), err = dup(2), status;
	FILE *file = tmpfile();

	assert_non_null(file);
	snprintf(words, sizeof words, "try %s", line);
	for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		argv[argc++] = word;
	fflush(stdout);
	dup2(fileno(file), 1);
	dup2(fileno(file), 2);
	*ret = (struct values){ .count = 0 };
	status = option_parse(&table, argc, argv, ret, take);
	fflush(stdout);
	dup2(out, 1);
	dup2(err, 2);
	close(out);
	close(err);
	rewind(file);
	ret_said[fread(ret_said, 1, 4095, file)] = '\0';
	fclose(file);
	return status;
}

CASE("every kind of value is taken")
{
	struct values values;
	char said[4096];

	assert_int_equal(parse("-q --file a -n 2 --share 0.5 --size 64K --list 1-3,1024 "
			       "--taken yes word -f b",
				 &values, said),
		-1);
	assert_string_equal(said, "");
	assert_true(values.quick && !values.quiet);
	assert_string_equal(values.file, "b");
	assert_string_equal(values.taken, "yes");
	assert_int_equal(values.count, 2);
	assert_int_equal(values.size, 65536);
	assert_true(values.share == 0.5);
	assert_int_equal(values.list.n, 4);
	assert_int_equal(values.list.number[3], 1024);
	assert_int_equal(optind, 16);
	assert_int_equal(parse("--share 2.5%", &values, said), -1);
	assert_true(values.share == 2.5);
	assert_int_equal(parse("--share 2.5%%", &values, said), 2);
	assert_int_equal(parse("--share %", &values, said), 2);
	assert_int_equal(parse("--time 1.5s", &values, said), -1);
	assert_int_equal(values.time_ns, 1500000000);
	assert_int_equal(parse("--time 250", &values, said), -1);
	assert_int_equal(values.time_ns, 250000000);
}

CASE("a bound is taken, and what is beyond it is refused")
{
	static const struct {
		const char *line, *said;
	} cases[] = {
		{ "-n 2", "" },
		{ "-n 1000", "" },
		{ "-n 1", "try: --count takes a whole number from 2 to 1000, and got \"1\". See "
			  "`try --help`.\n" },
		{ "-n 1001", "from 2 to 1000, and got \"1001\"" },
		{ "-n 3x", "got \"3x\"" },
		{ "-n -3", "got \"-3\"" },
		{ "--share 20", "" },
		{ "--share 0.4", "--share takes a number from 0.5 to 20, and got \"0.4\"" },
		{ "--share 20.1", "got \"20.1\"" },
		{ "--share 1e1", "got \"1e1\"" },
		{ "--size 65536", "" },
		{ "--size 64G", "" },
		{ "--size 68719476736", "" },
		{ "--size 65G", "--size takes a size from 64K to 64G, like 8M, and got \"65G\"" },
		{ "--size 63K", "got \"63K\"" },
		{ "--size 8m", "got \"8m\"" },
		{ "--size 8MM", "got \"8MM\"" },
		{ "--size 18446744073709551615G", "got \"1844" },
		{ "--time 20", "" },
		{ "--time 0.5s", "" },
		{ "--time 2m", "" },
		{ "--time 1h", "" },
		{ "--time 19",
			"--time takes a time from 20ms to 1h, like 10s or 500ms, and got \"19\"" },
		{ "--time 2d", "got \"2d\"" },
		{ "--time s", "got \"s\"" },
		{ "--time 1.2.3s", "got \"1.2.3s\"" },
		{ "--list 1,1024", "" },
		{ "--list 1-256", "" },
		{ "--list 1-257", "--list takes a list of numbers from 1 to 1024, like 1-4,8" },
		{ "--list 0-3", "got \"0-3\"" },
		{ "--list 1025", "got \"1025\"" },
		{ "--list 5-2", "got \"5-2\"" },
		{ "--list 1-", "got \"1-\"" },
		{ "--list 1,", "got \"1,\"" },
		{ "--taken no", "try: --taken is not for no. See `try --help`.\n" },
	};
	struct values values;
	char said[4096];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(
			parse(cases[i].line, &values, said), *cases[i].said ? EXIT_USAGE : -1);
		if (!strstr(said, cases[i].said) || !*cases[i].said != !*said)
			fail_msg("%s: %s", cases[i].line, said);
	}
}

CASE("a long option may be abbreviated")
{
	struct values values;
	char said[4096];

	assert_int_equal(parse("--quic --fi=x --sh 1", &values, said), -1);
	assert_true(values.quick && values.share == 1);
	assert_string_equal(values.file, "x");
	assert_int_equal(parse("--qui", &values, said), EXIT_USAGE);
	assert_string_equal(said, "try: --qui may be --quick or --quiet. See `try --help`.\n");
}

CASE("a wrong option is named, and the nearest one is proposed")
{
	static const struct {
		const char *line, *said;
	} cases[] = {
		{ "--cuont 3",
			"try: unknown option --cuont; did you mean --count? See `try --help`.\n" },
		{ "--sizes=3", "unknown option --sizes; did you mean --size?" },
		{ "--nonsense", "try: unknown option --nonsense. See `try --help`.\n" },
		{ "-x", "try: unknown option -x. See" },
		{ "-qx", "try: unknown option -x. See" },
		{ "--quick=3", "try: --quick takes no value. See" },
		{ "--count", "try: --count needs a value, N. See" },
		{ "-n", "try: --count needs a value, N. See" },
	};
	struct values values;
	char said[4096];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(parse(cases[i].line, &values, said), EXIT_USAGE);
		if (!strstr(said, cases[i].said))
			fail_msg("%s: %s", cases[i].line, said);
	}
}

CASE("the help of a command with subcommands lists these alone")
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	option_help(out, &whole);
	fclose(out);
	assert_string_equal(text, "Usage: try COMMAND [OPTION...]\n       try --quick|--help\n"
				  "Try it.\n\nCommands:\n  begin     begin it\n");
}

CASE("the help has each option with its bounds")
{
	static const char *const parts[] = {
		"Usage: try [OPTION...]\n       try begin\nTry it.\n",
		"\n  -n, --count N        do it N times (2 to 1000)\n",
		"\n      --size SIZE      a size (64K to 64G)\n",
		"\n  -h, --help           print this help\n",
	};
	struct values values;
	char said[4096];

	assert_int_equal(parse("-q --help", &values, said), 0);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (!strstr(said, parts[i]))
			fail_msg("%s is not in %s", parts[i], said);
}

CASE("only a word that is close is meant")
{
	static const struct {
		const char *word, *meant;
	} cases[] = {
		{ "stat", "stat" },
		{ "sta", "stat" },
		{ "stats", "stat" },
		{ "satt", "stat" },
		{ "exprot", "export" },
		{ "sleep", NULL },
		{ "x", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct nearest nearest;

		nearest_init(&nearest, cases[i].word);
		nearest_try(&nearest, "export");
		nearest_try(&nearest, "stat");
		nearest_try(&nearest, "help");
		if (!cases[i].meant)
			assert_null(nearest.name);
		else
			assert_string_equal(nearest.name, cases[i].meant);
	}
}
