/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes pages and completions from the tables of options. The program runs on the build machine. */
#pragma once

#include "common/option.h"

/* Copies a page from stdin to stdout, with the lists of options that it asks for. False: it asks
 * for a list or an option that does not exist, and stderr says so. */
bool man_page_write(void);

/* Write a shell's completion script of @program; for bash, its code comes from stdin. */
void bash_write(const struct option_table *program);
void zsh_write(const struct option_table *program);
void fish_write(const struct option_table *program);

/* The programs: uncore and uncored. NULL: there are no more. */
const struct option_table *program_nth(size_t n);

/* What the arguments of @table are: "COMMAND", "FILE", "USER", or "". */
const char *argument_of(const struct option_table *table);

/* How shells complete a value. */
struct value {
	const char *metavar, *zsh, *fish;
};

/* Of a value that the help calls @metavar. */
const struct value *value_of(const char *metavar);

/* Writes @text with a backslash before each of @special. */
void write_escaped(const char *text, const char *special);

/* Writes @text between single quotes of a shell. */
void write_quoted(const char *text);
