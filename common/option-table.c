/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds and formats the content of a table of options. */
#include <string.h>

#include "common/option.h"

const struct option_row *option_nth(const struct option_table *table, size_t n)
{
	static const struct option_row help = { "help", 'h', OPTION_HELP, NULL, "print this help",
		.offset = 0 };

	if (n < table->n_rows)
		return &table->rows[n];
	return n == table->n_rows ? &help : NULL;
}

const struct option_time_unit option_time_units[5] = {
	{ "h", 3600e9 },
	{ "m", 60e9 },
	{ "s", 1e9 },
	{ "ms", 1e6 },
	{ NULL, 1e6 },
};

static void option_write_time(double ns, char *ret, size_t n_bytes)
{
	const struct option_time_unit *unit = option_time_units;

	while (unit->name && ns < unit->ns)
		unit++;
	snprintf(ret, n_bytes, "%.12g%s", ns / unit->ns, unit->name ? unit->name : "ms");
}

static void write_bound(const struct option_row *row, double bound, char *ret, size_t n_bytes)
{
	const char *const units = OPTION_UNITS;
	unsigned shift = 0;

	if (row->kind == OPTION_TIME) {
		option_write_time(bound, ret, n_bytes);
		return;
	}
	while (row->kind == OPTION_BYTES && units[shift / 10] &&
		bound >= (double)(UINT64_C(1024) << shift))
		shift += 10;
	snprintf(ret, n_bytes, "%.12g%.*s", bound / (double)(UINT64_C(1) << shift), shift > 0,
		shift ? &units[shift / 10 - 1] : "");
}

void option_bounds(const struct option_row *row, char ret_text[OPTION_BOUNDS_MAX])
{
	char least[24], most[24];

	*ret_text = '\0';
	if (row->kind < OPTION_NUMBER || row->kind > OPTION_NUMBERS)
		return;
	write_bound(row, row->least, least, sizeof least);
	write_bound(row, row->most, most, sizeof most);
	snprintf(ret_text, OPTION_BOUNDS_MAX, "%s to %s", least, most);
}

void option_text(const struct option_row *row, char ret_text[OPTION_TEXT_MAX])
{
	char bounds[OPTION_BOUNDS_MAX];

	option_bounds(row, bounds);
	snprintf(ret_text, OPTION_TEXT_MAX, *bounds ? "%s (%s)" : "%s", row->help, bounds);
}

const char *option_last_word(const struct option_table *table)
{
	const char *blank = strrchr(table->command, ' ');

	return blank ? blank + 1 : table->command;
}

const struct option_table *option_subcommand(const struct option_table *table, const char *word)
{
	for (size_t i = 0; table->subcommands && table->subcommands[i]; i++)
		if (strcmp(option_last_word(table->subcommands[i]), word) == 0)
			return table->subcommands[i];
	return NULL;
}
