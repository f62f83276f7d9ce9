/* SPDX-License-Identifier: BSD-3-Clause */
/* The help of a command, made from its table and folded for a terminal. */
#include <string.h>

#include "common/option.h"
#include "common/text.h"

enum {
	COLUMN_MOST = 24, /* the last column where the help of an option may begin */
	LABEL_MAX = 64,
};

static size_t option_help_write_label(const struct option_row *row, char ret[LABEL_MAX])
{
	char letter[] = { '-', row->letter, ',', '\0' };

	return (size_t)snprintf(ret, LABEL_MAX,
		row->otherwise ? "  %-3s --%s[=%s]"
		: row->metavar ? "  %-3s --%s %s"
			       : "  %-3s --%s",
		row->letter ? letter : "", row->name, row->metavar);
}

static void option_help_write_row(FILE *out, const struct option_row *row, size_t column)
{
	char label[LABEL_MAX], text[OPTION_TEXT_MAX];
	size_t n = option_help_write_label(row, label);

	if (row->heading) {
		fputc('\n', out);
		text_fold(out, row->heading, 0, 0);
		fputc('\n', out);
	}
	option_text(row, text);
	if (n + 2 > column)
		fprintf(out, "%s\n%*s", label, (int)column, "");
	else
		fprintf(out, "%-*s", (int)column, label);
	text_fold(out, text, column, column);
}

static void option_help_write_rows(FILE *out, const struct option_table *table)
{
	const struct option_row *row;
	char label[LABEL_MAX];
	size_t column = 0;

	for (size_t i = 0; (row = option_nth(table, i)); i++) {
		const size_t needed = option_help_write_label(row, label) + 2;

		if (needed > column && needed <= COLUMN_MOST)
			column = needed;
	}
	for (size_t i = 0; (row = option_nth(table, i)); i++)
		option_help_write_row(out, row, column);
}

static void option_help_write_subcommands(FILE *out, const struct option_table *table)
{
	const struct option_table *one;

	fputs("Commands:\n", out);
	for (size_t i = 0; (one = table->subcommands[i]); i++)
		fprintf(out, "  %-9s %s\n", option_last_word(one), one->brief);
}

static void write_usage(FILE *out, const struct option_table *table)
{
	const char *line = table->usage, *before = "Usage:";

	while (*line) {
		const size_t n = strcspn(line, "\n");

		fprintf(out, "%-6s %s %.*s\n", before, table->command, (int)n, line);
		before = "";
		line += n + (line[n] == '\n');
	}
}

void option_help(FILE *out, const struct option_table *table)
{
	write_usage(out, table);
	text_fold(out, table->about, 0, 0);
	fputc('\n', out);
	if (table->subcommands) /* their usage has their few options; one screen holds it all */
		option_help_write_subcommands(out, table);
	else
		option_help_write_rows(out, table);
	if (table->exits) {
		fputs("\nExit status: ", out);
		text_fold(out, table->exits, strlen("Exit status: "), 0);
	}
}
