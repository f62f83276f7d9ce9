/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions for the writers of both pages and completions. */
#include <string.h>

#include "client/command/frame/command.h"
#include "daemon/options.h"
#include "generate/generate.h"

const struct option_table *program_nth(size_t n)
{
	static const struct option_table *const programs[] = { &uncore_table, &uncored_table,
		NULL };

	return programs[n];
}

const char *argument_of(const struct option_table *table)
{
	if (table->runs_command && !table->subcommands)
		return "COMMAND";
	if (strstr(table->usage, "FILE"))
		return "FILE";
	return strstr(table->usage, "[USER]") ? "USER" : "";
}

const struct value *value_of(const char *metavar)
{
	static const struct value values[] = {
		{ "FILE", "_files", " -r -F" }, { "PATH", "_files", " -r -F" },
		{ "DIR", "_files -/", " -x -a '(__fish_complete_directories)'" },
		{ "USER", "_users", " -x -a '(__fish_complete_users)'" },
		{ "METRIC", "_uncore_metrics", " -x -a '(uncore __complete metrics 2>/dev/null)'" },
		{ NULL, "", " -x" }, /* any other */
	};
	size_t i = 0;

	while (values[i].metavar && strcmp(values[i].metavar, metavar) != 0)
		i++;
	return &values[i];
}

void write_escaped(const char *text, const char *special)
{
	for (; *text; text++) {
		if (strchr(special, *text))
			putchar('\\');
		putchar(*text);
	}
}

void write_quoted(const char *text)
{
	putchar('\'');
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*text);
	putchar('\'');
}
