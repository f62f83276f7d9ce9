/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/option.h"

#include <getopt.h>
#include <stdarg.h>
#include <string.h>

#include "common/nearest.h"
#include "common/number.h"
#include "common/text.h"

enum { BEYOND_LETTERS = 256, NAME_MAX_BYTES = 64 };

int option_complain(const struct option_table *table, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "%s: ", table->command);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "%s See `%s --help`.\n", format[strlen(format) - 1] == '?' ? "" : ".",
		table->command);
	return EXIT_USAGE;
}

/* --- values --- */

static bool is_within(const struct option_row *row, double value)
{
	return value >= row->least && value <= row->most;
}

static bool option_take_number(const struct option_row *row, const char *text, void *ret)
{
	uint64_t number;

	if (!number_parse_whole(text, 10, (uint64_t)row->most, &number) ||
		!is_within(row, (double)number))
		return false;
	*(uint64_t *)ret = number;
	return true;
}

/* "5" or "5%". */
static bool take_percent(const struct option_row *row, const char *text, void *ret)
{
	const size_t n = strcspn(text, "%");
	char number[16];
	double percent;

	snprintf(number, sizeof number, "%.*s", (int)n, text);
	if (n >= sizeof number || (text[n] && text[n + 1]) ||
		!number_parse_decimal(number, (uint64_t)row->most, &percent) ||
		!is_within(row, percent))
		return false;
	*(double *)ret = percent;
	return true;
}

static bool option_take_bytes(const struct option_row *row, const char *text, void *ret)
{
	const uint64_t most = (uint64_t)row->most;
	const char *const units = OPTION_UNITS;
	uint64_t number;
	const char *rest = number_parse(text, 10, most, &number), *unit;
	unsigned shift = 0;

	unit = rest && *rest ? strchr(units, *rest) : NULL;
	if (unit) {
		shift = 10 * (unsigned)(unit - units + 1);
		rest++;
	}
	if (!rest || *rest || number > most >> shift || !is_within(row, (double)(number << shift)))
		return false;
	*(uint64_t *)ret = number << shift;
	return true;
}

static bool take_time(const struct option_row *row, const char *text, void *ret)
{
	const struct option_time_unit *unit = option_time_units;
	const size_t n = strspn(text, "0123456789.");
	char number[16];
	double count;

	while (unit->name && strcmp(unit->name, text + n) != 0)
		unit++;
	snprintf(number, sizeof number, "%.*s", (int)n, text);
	if ((!unit->name && text[n]) || n >= sizeof number ||
		!number_parse_decimal(number, UINT32_MAX, &count) ||
		!is_within(row, count * unit->ns))
		return false;
	*(uint64_t *)ret = (uint64_t)(count * unit->ns);
	return true;
}

static bool take_numbers(const struct option_row *row, const char *text, void *ret)
{
	struct option_numbers *list = ret;

	list->n = 0;
	do {
		uint64_t first, last;

		text = number_parse_range(text, (uint64_t)row->most, &first, &last);
		if (!text || !is_within(row, (double)first) ||
			last - first >= OPTION_NUMBERS_MAX - list->n)
			return false;
		for (; first <= last; first++)
			list->number[list->n++] = first;
	} while (*text++ == ',');
	return text[-1] == '\0';
}

static const struct {
	bool (*take)(const struct option_row *row, const char *text, void *ret);
	const char *what, *example;
} numeric[] = {
	[OPTION_NUMBER] = { option_take_number, "a whole number", "" },
	[OPTION_PERCENT] = { take_percent, "a number", "" },
	[OPTION_TIME] = { take_time, "a time", ", like 10s or 500ms" },
	[OPTION_BYTES] = { option_take_bytes, "a size", ", like 8M" },
	[OPTION_NUMBERS] = { take_numbers, "a list of numbers", ", like 1-4,8" },
};

static int take_numeric(const struct option_table *table, const struct option_row *row, void *ret)
{
	char bounds[OPTION_BOUNDS_MAX];

	if (numeric[row->kind].take(row, optarg ? optarg : row->otherwise, ret))
		return -1;
	option_bounds(row, bounds);
	return option_complain(table, "--%s takes %s from %s%s, and got \"%s\"", row->name,
		numeric[row->kind].what, bounds, numeric[row->kind].example, optarg);
}

/* Takes the value of @row; returns as option_parse(). */
static int option_take_row(const struct option_table *table, const struct option_row *row,
	void *options, option_take *take)
{
	void *member = (char *)options + row->offset;

	switch (row->kind) {
	case OPTION_FLAG:
		*(bool *)member = true;
		return -1;
	case OPTION_TEXT:
		*(const char **)member = optarg;
		return -1;
	case OPTION_TAKEN:
		return take(row, optarg, options);
	case OPTION_HELP:
		option_help(stdout, table);
		return 0;
	default:
		return take_numeric(table, row, member);
	}
}

/* --- words that are not an option --- */

static const struct option_row *option_find(const struct option_table *table, int code)
{
	const struct option_row *row;

	for (size_t i = 0; (row = option_nth(table, i)); i++)
		if (code == (row->letter ? row->letter : BEYOND_LETTERS + (int)i))
			return row;
	return NULL;
}

/* Finds up to two options that begin with @name. Returns their number. */
static size_t find_ambiguous(
	const struct option_table *table, const char *name, const struct option_row *ret[2])
{
	const struct option_row *row;
	size_t n = 0;

	for (size_t i = 0; (row = option_nth(table, i)) && n < 2; i++)
		if (strncmp(row->name, name, strlen(name)) == 0)
			ret[n++] = row;
	return n;
}

static int refuse_long(const struct option_table *table, const char *word)
{
	const struct option_row *row, *two[2];
	struct nearest nearest;
	char name[NAME_MAX_BYTES];

	snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
	if (find_ambiguous(table, name, two) == 2)
		return option_complain(
			table, "--%s may be --%s or --%s", name, two[0]->name, two[1]->name);
	nearest_init(&nearest, name);
	for (size_t i = 0; (row = option_nth(table, i)); i++)
		nearest_try(&nearest, row->name);
	if (nearest.name)
		return option_complain(
			table, "unknown option --%s; did you mean --%s?", name, nearest.name);
	return option_complain(table, "unknown option --%s", name);
}

/* @word: the argument before optind; @code: what getopt_long(3) returned. */
static int option_refuse(const struct option_table *table, const char *word, int code)
{
	const struct option_row *row = optopt ? option_find(table, optopt) : NULL;

	if (row && code == ':')
		return option_complain(table, "--%s needs a value, %s", row->name, row->metavar);
	if (row)
		return option_complain(table, "--%s takes no value", row->name);
	if (optopt)
		return option_complain(table, "unknown option -%c", optopt);
	return refuse_long(table, word + strspn(word, "-"));
}

/* --- parsing --- */

struct names {
	struct option longs[OPTION_ROWS_MAX + 2];
	char shorts[2 * OPTION_ROWS_MAX + 5];
};

/* With ":" getopt_long(3) tells a missing value from an unknown option, and prints nothing. */
static void names_init(struct names *names, const struct option_table *table)
{
	const struct option_row *row;
	char *letter = names->shorts;

	letter = stpcpy(letter, table->runs_command ? "+:" : ":");
	for (size_t i = 0; (row = option_nth(table, i)); i++) {
		names->longs[i] = (struct option){
			.name = row->name,
			.has_arg = row->otherwise ? optional_argument
				   : row->metavar ? required_argument
						  : no_argument,
			.val = row->letter ? row->letter : BEYOND_LETTERS + (int)i,
		};
		if (row->letter)
			*letter++ = row->letter;
		if (row->letter && row->metavar)
			*letter++ = ':';
	}
}

int option_parse(
	const struct option_table *table, int argc, char **argv, void *options, option_take *take)
{
	struct names names = {};
	int code, status = -1;

	names_init(&names, table);
	optind = 0; /* start at the beginning, even if other options were parsed before */
	while (status < 0 &&
		(code = getopt_long(argc, argv, names.shorts, names.longs, NULL)) != -1) {
		const struct option_row *row = option_find(table, code);

		status = row ? option_take_row(table, row, options, take)
			     : option_refuse(table, argv[optind - 1], code);
	}
	return status;
}

int option_no_argument(const struct option_table *table, int argc, char **argv)
{
	return optind < argc ? option_complain(table, "it takes no argument %s", argv[optind]) : -1;
}

const char *option_near_subcommand(const struct option_table *table, const char *word)
{
	struct nearest nearest;

	nearest_init(&nearest, word);
	for (size_t i = 0; table->subcommands[i]; i++)
		nearest_try(&nearest, option_last_word(table->subcommands[i]));
	return nearest.name;
}

int option_no_subcommand(const struct option_table *table, const char *word)
{
	const char *near = option_near_subcommand(table, word);

	char all[128] = "";

	for (size_t i = 0; table->subcommands[i]; i++)
		text_append(all, sizeof all, " %s", option_last_word(table->subcommands[i]));
	return near ? option_complain(table, "unknown command %s; did you mean %s?", word, near)
		    : option_complain(table, "unknown command %s; there are:%s", word, all);
}
