/* SPDX-License-Identifier: BSD-3-Clause */
/* What is made of the tables of options, by a program that runs where the build does. */
#pragma once

#include "common/option.h"

/* Copies a page from stdin to stdout, with the lists of options that it asks for. False: it asks
 * for what does not exist, and stderr says so. */
bool page_write(void);

/* What a shell completes of @program. */
void bash_write(const struct option_table *program);
void zsh_write(const struct option_table *program);
void fish_write(const struct option_table *program);

/* uncore and uncored; NULL: there is no further one. */
const struct option_table *program_nth(size_t n);

/* What stands for the values of arguments of @table: "COMMAND", "FILE", "USER", or "". */
const char *argument_of(const struct option_table *table);

/* Writes @text with a backslash before each of @special. */
void write_escaped(const char *text, const char *special);

/* Writes @text between single quotes of a shell. */
void write_quoted(const char *text);
