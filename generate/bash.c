/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "generate/generate.h"

/* The script's code, which uses its tables; "@" is the program. bash splits --option=value at
 * "=". */
static const char engine[] =
	"_@_value()\n"
	"{\n"
	"	case $1 in\n"
	"	FILE | PATH)\n"
	"		compopt -o filenames\n"
	"		mapfile -t COMPREPLY < <(compgen -f -- \"$2\")\n"
	"		;;\n"
	"	DIR)\n"
	"		compopt -o filenames\n"
	"		mapfile -t COMPREPLY < <(compgen -d -- \"$2\")\n"
	"		;;\n"
	"	USER) mapfile -t COMPREPLY < <(compgen -u -- \"$2\") ;;\n"
	"	COMMAND) mapfile -t COMPREPLY < <(compgen -c -- \"$2\") ;;\n"
	"	METRIC) _@_words \"$(\"${COMP_WORDS[0]}\" __complete metrics 2>/dev/null)\" \"$2\" "
	";;\n"
	"	esac\n"
	"}\n"
	"\n"
	"_@_words()\n"
	"{\n"
	"	mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$2\")\n"
	"}\n"
	"\n"
	"_@()\n"
	"{\n"
	"	local options values subcommands argument value= word=${COMP_WORDS[COMP_CWORD]} "
	"one i\n"
	"	local at=${COMP_WORDS[0]##*/}\n"
	"\n"
	"	[[ $word != = ]] || word=\n"
	"	_@_table \"$at\"\n"
	"	for ((i = 1; i < COMP_CWORD; i++)); do\n"
	"		one=${COMP_WORDS[i]}\n"
	"		if [[ $values == *\" $one:\"* ]]; then\n"
	"			value=${values#*\" $one:\"}\n"
	"			value=${value%% *}\n"
	"			((i++))\n"
	"			[[ ${COMP_WORDS[i]} != = ]] || ((i == COMP_CWORD || i++))\n"
	"			((i == COMP_CWORD)) || value=\n"
	"		elif [[ $argument == COMMAND && ($one == -- || $one != -*) ]]; then\n"
	"			[[ $one != -- ]] || ((i++))\n"
	"			if ((i < COMP_CWORD)) && declare -F _command_offset >/dev/null; "
	"then\n"
	"				_command_offset \"$i\"\n"
	"				return\n"
	"			fi\n"
	"			((i == COMP_CWORD)) && value=COMMAND || value=FILE\n"
	"			break\n"
	"		elif [[ \" $subcommands \" == *\" $one \"* ]]; then\n"
	"			at=\"$at $one\"\n"
	"			_@_table \"$at\"\n"
	"		fi\n"
	"	done\n"
	"	if [[ -n $value ]]; then\n"
	"		_@_value \"$value\" \"$word\"\n"
	"	elif [[ $word == -* ]]; then\n"
	"		_@_words \"$options\" \"$word\"\n"
	"	elif [[ -n $subcommands ]]; then\n"
	"		_@_words \"$subcommands\" \"$word\"\n"
	"	else\n"
	"		_@_value \"$argument\" \"$word\"\n"
	"	fi\n"
	"}\n"
	"\n"
	"complete -F _@ @\n";

static void write_values(const struct option_row *row)
{
	if (row->letter)
		printf("-%c:%s ", row->letter, row->metavar);
	printf("--%s:%s ", row->name, row->metavar);
}

static void write_table(const struct option_table *table, const struct option_table *names)
{
	const struct option_row *row;

	printf("	\"%s\")\n		options=\"", table->command);
	for (size_t i = 0; (row = option_nth(table, i)); i++)
		printf("%s--%s", i > 0 ? " " : "", row->name);
	printf("\"\n		values=\" ");
	for (size_t i = 0; (row = option_nth(table, i)); i++)
		if (row->metavar)
			write_values(row);
	printf("\"\n		subcommands=\"");
	for (size_t i = 0; names->subcommands && names->subcommands[i]; i++)
		printf("%s%s", i > 0 ? " " : "", option_last_word(names->subcommands[i]));
	printf("\"\n		argument=%s\n		;;\n", argument_of(table));
}

/* `help` completes the same names as its parent. */
static void write_tables(const struct option_table *table, const struct option_table *parent)
{
	write_table(table, strcmp(option_last_word(table), "help") == 0 ? parent : table);
	for (size_t i = 0; table->subcommands && table->subcommands[i]; i++)
		write_tables(table->subcommands[i], table);
}

void bash_write(const struct option_table *program)
{
	printf("# bash completion of %s\n\n_%s_table()\n{\n	case $1 in\n", program->command,
		program->command);
	write_tables(program, program);
	puts("	*) options= values= subcommands= argument= ;;\n	esac\n}\n");
	for (const char *at = engine; *at; at++)
		if (*at == '@')
			fputs(program->command, stdout);
		else
			putchar(*at);
}
