/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "generate/generate.h"

/* "uncore stat" has the function _uncore_stat. */
static void write_function(const struct option_table *table)
{
	putchar('_');
	for (const char *at = table->command; *at; at++)
		putchar(*at == ' ' ? '_' : *at);
}

static void zsh_write_one(const struct option_row *row, const char *before, const char *name)
{
	printf(" \\\n		'*%s%s%s[", before, name,
		!option_needs_value(row) ? ""
		: before[1]              ? "="
					 : "+");
	for (const char *at = row->help; *at; at++)
		if (*at == '\'')
			fputs("'\\''", stdout);
		else
			printf("%s%c", strchr("[]:\\", *at) ? "\\" : "", *at);
	putchar(']');
	if (option_needs_value(row))
		printf(":%s:%s", row->metavar, value_of(row->metavar)->zsh);
	putchar('\'');
}

static void write_options(const struct option_table *table)
{
	const struct option_row *row;

	for (size_t i = 0; (row = option_nth(table, i)); i++) {
		if (row->letter)
			zsh_write_one(row, "-", (char[]){ row->letter, '\0' });
		zsh_write_one(row, "--", row->name);
	}
}

static void write_arguments(const struct option_table *table)
{
	const char *argument = argument_of(table);

	printf("	_arguments -s -S");
	write_options(table);
	if (strcmp(argument, "COMMAND") == 0)
		printf(" \\\n		'(-):command:_command_names -e' \\\n"
		       "		'*::argument:_normal'");
	else if (*argument)
		printf(" \\\n		'*:%s:%s'", argument, value_of(argument)->zsh);
	else
		printf(" \\\n		'*: :_message argument'");
	putchar('\n');
}

static void zsh_write_subcommands(const struct option_table *table)
{
	puts("	local state line curcontext=\"$curcontext\"\n	local -a commands\n\n"
	     "	commands=(");
	for (size_t i = 0; table->subcommands[i]; i++) {
		printf("		%s:", option_last_word(table->subcommands[i]));
		write_quoted(table->subcommands[i]->brief);
		putchar('\n');
	}
	printf("	)\n	_arguments -C -S");
	write_options(table);
	puts(" \\\n		'1: :->command' '*:: :->rest'\n	case $state in\n"
	     "	command) _describe command commands ;;");
	printf("	rest) (( $+functions[");
	write_function(table);
	printf("_$words[1]] )) && ");
	write_function(table);
	puts("_$words[1] ;;\n	esac");
}

static void zsh_write_table(const struct option_table *table)
{
	write_function(table);
	puts("() {");
	if (table->subcommands)
		zsh_write_subcommands(table);
	else
		write_arguments(table);
	puts("}\n");
	for (size_t i = 0; table->subcommands && table->subcommands[i]; i++)
		zsh_write_table(table->subcommands[i]);
}

void zsh_write(const struct option_table *program)
{
	printf("#compdef %s\n\n_uncore_metrics() {\n"
	       "	compadd -- ${(f)\"$(uncore __complete metrics 2>/dev/null)\"}\n}\n\n",
		program->command);
	zsh_write_table(program);
	printf("_%s \"$@\"\n", program->command);
}
