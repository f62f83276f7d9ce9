/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The option lists of a man page, in the language of scdoc(5). Lines of the page ask for a list:
 *
 *	@options uncore stat
 *	@--interval
 *		More about this option, after the text of --help.
 *	@end
 *
 * All options of the table are in the list, in the table's order.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "generate/generate.h"

enum { LINES_MAX = 4000, WORD_MAX = 128 };

static char *lines[LINES_MAX];
static size_t n_lines;

static const char *man_page_after(const char *line, const char *start)
{
	const size_t n = strlen(start);

	return strncmp(line, start, n) == 0 ? line + n : NULL;
}

static const struct option_table *find_below(const struct option_table *table, const char *command)
{
	const struct option_table *found = strcmp(table->command, command) == 0 ? table : NULL;

	for (size_t i = 0; !found && table->subcommands && table->subcommands[i]; i++)
		found = find_below(table->subcommands[i], command);
	return found;
}

static const struct option_table *find_table(const char *command)
{
	const struct option_table *program, *found = NULL;

	for (size_t i = 0; !found && (program = program_nth(i)); i++)
		found = find_below(program, command);
	return found;
}

/* --- text --- */

/* Does @word stand for a value? */
static bool is_placeholder(const struct option_table *table, const char *word)
{
	const struct option_row *row;

	if (strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") < strlen(word))
		return false;
	for (size_t i = 0; (row = option_nth(table, i)); i++)
		if (row->metavar && strcmp(row->metavar, word) == 0)
			return true;
	return strlen(word) > 1 && strstr(table->usage, word);
}

static bool is_option(const char *word)
{
	return word[0] == '-' && (word[1] == '-' ? isalpha(word[2]) : isalpha(word[1]) && !word[2]);
}

static void write_word(const struct option_table *table, const char *text, size_t n)
{
	const char *opening = text[0] == '(' ? "(" : "", *mark;
	char word[WORD_MAX], rest[WORD_MAX];
	size_t core;

	snprintf(word, sizeof word, "%.*s", (int)(n - strlen(opening)), text + strlen(opening));
	core = strlen(word);
	while (core && strchr(".,;:)", word[core - 1]))
		core--;
	snprintf(rest, sizeof rest, "%s", word + core);
	word[core] = '\0';
	mark = is_option(word) ? "*" : core && is_placeholder(table, word) ? "_" : "";
	printf("%s%s", opening, mark);
	write_escaped(word, "_*\\");
	printf("%s%s", mark, rest);
}

static void man_page_write_text(const struct option_table *table, const struct option_row *row)
{
	char text[OPTION_TEXT_MAX + 1];

	option_text(row, text);
	strcat(text, ".");
	*text = (char)toupper(*text);
	putchar('\t');
	for (const char *at = text; *at;) {
		const size_t n = strcspn(at, " ");

		write_word(table, at, n);
		at += n;
		if (*at)
			putchar(*at++);
	}
	putchar('\n');
}

/* --- lists --- */

/* Writes what lines @from to @to say of @row, without blank lines at the end. */
static void write_more(const struct option_row *row, size_t from, size_t to)
{
	const char *name;
	size_t end;

	while (from < to &&
		!((name = man_page_after(lines[from], "@--")) && strcmp(name, row->name) == 0))
		from++;
	if (from == to)
		return;
	for (end = ++from; end < to && lines[end][0] != '@'; end++)
		;
	while (end > from && !*lines[end - 1])
		end--;
	for (; from < end; from++)
		puts(lines[from]);
}

static void write_list(const struct option_table *table, size_t from, size_t to)
{
	const struct option_row *row;

	for (size_t i = 0; (row = option_nth(table, i)); i++) {
		if (i > 0)
			putchar('\n');
		if (row->letter)
			printf("*-%c*, ", row->letter);
		printf("*--%s*", row->name);
		if (row->metavar)
			printf(row->otherwise ? "[=_%s_]" : " _%s_", row->metavar);
		putchar('\n');
		man_page_write_text(table, row);
		write_more(row, from, to);
	}
}

static bool names_rows(const struct option_table *table, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		const char *name = man_page_after(lines[i], "@--");
		const struct option_row *row = NULL;

		for (size_t n = 0; name && (row = option_nth(table, n)); n++)
			if (strcmp(row->name, name) == 0)
				break;
		if (name && !row) {
			fprintf(stderr, "`%s` does not have the option --%s of the page.\n",
				table->command, name);
			return false;
		}
	}
	return true;
}

static void man_page_read_lines(void)
{
	char *line = NULL;
	size_t size = 0;

	while (n_lines < LINES_MAX && getline(&line, &size, stdin) >= 0) {
		line[strcspn(line, "\n")] = '\0';
		lines[n_lines++] = line;
		line = NULL;
		size = 0;
	}
	free(line);
}

bool man_page_write(void)
{
	bool good = true;

	man_page_read_lines();
	for (size_t i = 0; i < n_lines && good; i++) {
		const char *command = man_page_after(lines[i], "@options ");
		const struct option_table *table = command ? find_table(command) : NULL;
		size_t end = i;

		if (!command) {
			puts(lines[i]);
			continue;
		}
		while (end < n_lines && strcmp(lines[end], "@end") != 0)
			end++;
		good = table && end < n_lines && names_rows(table, i + 1, end);
		if (good)
			write_list(table, i + 1, end);
		else
			fprintf(stderr, "There is no list for: %s\n", lines[i]);
		i = end;
	}
	for (size_t i = 0; i < n_lines; i++)
		free(lines[i]);
	return good;
}
