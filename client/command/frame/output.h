/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/*
 * A process that starts with a closed stdin, stdout or stderr would give that number to a file that
 * it opens, and would write into that file. This occupies the numbers; writing to them then fails.
 */
void output_keep_apart(void);

enum output_style { STYLE_PLAIN, STYLE_HEADING, STYLE_GOOD, STYLE_DOUBT, STYLE_BAD };

/* Is @out a terminal that knows escape sequences (TERM is not "dumb")? */
bool output_has_escapes(FILE *out);

/* ... and NO_COLOR is not set? */
bool output_has_colours(FILE *out);

/* The escape sequence after which text has this style. */
const char *output_code(enum output_style style);

/* What follows has this style, if @out has colours. */
void output_style(FILE *out, enum output_style style);

enum { OUTPUT_LABEL_WIDTH = 11 };

/* A label, and on stdout beside it a text that is folded. */
void output_labelled(const char *label, const char *text);

/* Ends a line of stdout, which is at column @at. On a terminal it is folded, with further lines
 * from column @indent on; in a file it stays one line. */
void output_rest(size_t at, size_t indent, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A whole line, from column @at on. */
void output_line(size_t at, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Has all output to @out arrived? 0; else -1, after a line on stderr that names @command and the
 * @name of @out.
 */
int output_check(FILE *out, const char *command, const char *name);
