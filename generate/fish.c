/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "generate/generate.h"

/* Writes fish's condition that @table's command was typed. */
static void write_condition(const struct option_table *table)
{
	const char *words = strchr(table->command, ' ');

	if (!words && !table->subcommands)
		return;
	printf(" -n '");
	if (!words)
		printf("__fish_use_subcommand");
	else if (strchr(words + 1, ' '))
		printf("__fish_seen_subcommand_from job; and __fish_seen_subcommand_from %s",
			option_last_word(table));
	else
		printf("__fish_seen_subcommand_from%s%s", words,
			strcmp(words, " job") == 0 ? ""
						   : "; and not __fish_seen_subcommand_from job");
	putchar('\'');
}

static void write_start(const struct option_table *table)
{
	printf("complete -c %.*s", (int)strcspn(table->command, " "), table->command);
	write_condition(table);
}

static void fish_write_row(const struct option_table *table, const struct option_row *row)
{
	write_start(table);
	if (row->letter)
		printf(" -s %c", row->letter);
	printf(" -l %s -d ", row->name);
	write_quoted(row->help);
	if (option_needs_value(row))
		fputs(value_of(row->metavar)->fish, stdout);
	putchar('\n');
}

static void write_argument(const struct option_table *table)
{
	const char *argument = argument_of(table);

	if (!*argument)
		return;
	write_start(table);
	if (strcmp(argument, "COMMAND") == 0)
		printf(" -x -a '(__fish_complete_subcommand --fcs-skip=2)'");
	else if (strcmp(argument, "FILE") == 0)
		printf(" -F");
	else
		printf(" -x -a '(__fish_complete_users)'");
	putchar('\n');
}

static void fish_write_table(const struct option_table *table)
{
	const struct option_row *row;

	for (size_t i = 0; (row = option_nth(table, i)); i++)
		fish_write_row(table, row);
	write_argument(table);
	for (size_t i = 0; table->subcommands && table->subcommands[i]; i++) {
		write_start(table);
		printf(" -x -a %s -d ", option_last_word(table->subcommands[i]));
		write_quoted(table->subcommands[i]->brief);
		putchar('\n');
		fish_write_table(table->subcommands[i]);
	}
}

void fish_write(const struct option_table *program)
{
	printf("complete -c %s -f\n", program->command);
	fish_write_table(program);
}
