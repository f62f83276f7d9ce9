/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "generate/generate.h"

static void bash_write_values(const struct option_row *row)
{
	if (row->letter)
		printf("-%c:%s ", row->letter, row->metavar);
	printf("--%s:%s ", row->name, row->metavar);
}

static void bash_write_table(const struct option_table *table, const struct option_table *names)
{
	const struct option_row *row;

	printf("	\"%s\")\n		options=\"", table->command);
	for (size_t i = 0; (row = option_nth(table, i)); i++)
		printf("%s--%s", i > 0 ? " " : "", row->name);
	printf("\"\n		values=\" ");
	for (size_t i = 0; (row = option_nth(table, i)); i++)
		if (option_needs_value(row))
			bash_write_values(row);
	printf("\"\n		subcommands=\"");
	for (size_t i = 0; names->subcommands && names->subcommands[i]; i++)
		printf("%s%s", i > 0 ? " " : "", option_last_word(names->subcommands[i]));
	printf("\"\n		argument=%s\n		;;\n", argument_of(table));
}

/* `help` completes the same names as its parent. */
static void bash_write_tables(const struct option_table *table, const struct option_table *parent)
{
	bash_write_table(table, strcmp(option_last_word(table), "help") == 0 ? parent : table);
	for (size_t i = 0; table->subcommands && table->subcommands[i]; i++)
		bash_write_tables(table->subcommands[i], table);
}

void bash_write(const struct option_table *program)
{
	int c;

	printf("_%s_table()\n{\n	case $1 in\n", program->command);
	bash_write_tables(program, program);
	puts("	*) options= values= subcommands= argument= ;;\n	esac\n}\n");
	/* In the template "@" is the program. */
	while ((c = getchar()) != EOF)
		if (c == '@')
			fputs(program->command, stdout);
		else
			putchar(c);
}
