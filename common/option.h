/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options of a command, as a table. The parser, --help, the option list of the man page and
 * what shells complete are made from it. A table is only data, because a program on the build
 * machine links all tables: a table refers to the command's variables by their offsets in a struct.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
	EXIT_USAGE = 2, /* the exit status for a wrong option */
	OPTION_ROWS_MAX = 32,
	OPTION_NUMBERS_MAX = 256,
	OPTION_BOUNDS_MAX = 64, /* bytes, with the final NUL */
	OPTION_TEXT_MAX = 1024,
};

/* The units of an OPTION_BYTES, each 1024 times the one before. */
#define OPTION_UNITS "KMG"

/* The units of an OPTION_TIME, the largest first. */
struct option_time_unit {
	const char *name;
	double ns;
};
extern const struct option_time_unit option_time_units[5];

struct option_numbers {
	unsigned n; /* 0: the option was not given */
	uint64_t number[OPTION_NUMBERS_MAX];
};

enum option_kind {
	OPTION_FLAG,    /* bool; no value */
	OPTION_TEXT,    /* const char * */
	OPTION_NUMBER,  /* uint64_t */
	OPTION_PERCENT, /* double; "0.5" */
	OPTION_BYTES,   /* uint64_t; "8M" */
	OPTION_TIME,    /* uint64_t, ns; "2s", "500ms"; a number alone is in ms, as for perf */
	OPTION_NUMBERS, /* struct option_numbers; "1-4,8" */
	OPTION_TAKEN,   /* the command's function parses the text */
	OPTION_HELP,    /* prints the help */
};

struct option_row {
	const char *name;
	char letter; /* or 0 */
	enum option_kind kind;
	/* What the help calls the value, NULL for a flag. Shells complete FILE, PATH, DIR, USER and
	 * METRIC. */
	const char *metavar;
	const char *help; /* a phrase; the bounds follow it */
	size_t offset;    /* in the command's struct */
	double least, most;
	const char *heading;   /* a paragraph of --help before this row, or NULL */
	const char *otherwise; /* the value if none is given; NULL: it must be given */
};

struct option_table {
	const char *command; /* "uncore stat" */
	const char *brief;   /* what it does, in a list of commands */
	const char *usage;   /* a line for each form, without the command */
	const char *about;   /* a paragraph */
	const char *exits;   /* what the exit statuses mean */
	const struct option_row *rows;
	size_t n_rows;
	const struct option_table *const *subcommands; /* ends with NULL; or NULL */
	bool runs_command; /* the first word that is not an option is a command, with arguments */
};

/* Does a value follow as a word of its own? */
static inline bool option_needs_value(const struct option_row *row)
{
	return row->metavar && !row->otherwise;
}

#define OPTION_AT(type, member) .offset = offsetof(struct type, member)
#define OPTION_ROWS(array)      .rows = array, .n_rows = sizeof(array) / sizeof *(array)

/* Row @n of @table. After its rows comes --help, which all tables have. NULL: no more rows. */
const struct option_row *option_nth(const struct option_table *table, size_t n);

/* "10 to 3600000", or "": the kind of @row has no bounds. */
void option_bounds(const struct option_row *row, char ret_text[OPTION_BOUNDS_MAX]);

/* The help of @row, with its bounds. */
void option_text(const struct option_row *row, char ret_text[OPTION_TEXT_MAX]);

/* Takes the value of an OPTION_TAKEN. Returns -1 to go on, or the exit status. */
typedef int option_take(const struct option_row *row, const char *text, void *options);

/*
 * Parses @argv into @options, which has the defaults; @take may be NULL. Returns -1 to go on with
 * the arguments from optind on, or the exit status if the command shall end.
 */
int option_parse(
	const struct option_table *table, int argc, char **argv, void *options, option_take *take);

/* Prints on stderr what is wrong with the command line: @format is a clause. Returns EXIT_USAGE. */
__attribute__((format(printf, 2, 3))) int option_complain(
	const struct option_table *table, const char *format, ...);

/* For a command that takes only options: -1, or EXIT_USAGE if there is an argument at optind. */
int option_no_argument(const struct option_table *table, int argc, char **argv);

/* The subcommand of @table whose name is @word, or NULL. */
const struct option_table *option_subcommand(const struct option_table *table, const char *word);

/* The name of the subcommand of @table that @word may mean, or NULL. */
const char *option_near_subcommand(const struct option_table *table, const char *word);

/* Says that @table has no subcommand @word. Returns EXIT_USAGE. */
int option_no_subcommand(const struct option_table *table, const char *word);

/* The last word of the command: "stat". */
const char *option_last_word(const struct option_table *table);

void option_help(FILE *out, const struct option_table *table);
