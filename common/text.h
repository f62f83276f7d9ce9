/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* How many bytes the character at @at has; 0: it is not UTF-8 (RFC 3629), or the end of the text.
 */
size_t text_read(const char *at, uint32_t *ret);

/* How many bytes the character at @text has; 0: it is a control character, among them those of the
 * order of characters (UAX #9), or not UTF-8. */
size_t text_plain_bytes(const char *text);

/* Is @text valid UTF-8 (RFC 3629) without control characters (C0, DEL, C1, UAX #9)? */
bool text_is_plain(const char *text);

/* Writes @text with "?" in the place of each byte that text_is_plain() refuses. */
void text_print_plain(FILE *out, const char *text);

/* The same in place. */
void text_make_plain(char *text);

/* Writes @character, at most U+10FFFF, as UTF-8 of 1 to 4 bytes. Returns its end. */
char *text_put(uint32_t character, char *to);

/* Appends to @text, which has room for @size_bytes. What does not fit is cut off. */
void text_append(char *text, size_t size_bytes, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

enum { TEXT_WIDTH = 80, TEXT_WIDTH_MIN = 40 }; /* of a terminal */

/* The columns of a line of @out: TEXT_WIDTH_MIN to @most on a terminal, else @most. */
size_t text_line(FILE *out, size_t most);

/* The columns of a terminal that the first bytes of a plain text take: characters of East Asia may
 * have two, and combining ones have none. */
size_t text_width(const char *text, size_t n_bytes);

/* Writes the words of @text in lines of @width, from column @at on, and further lines from column
 * @indent on. */
void text_fold_to(FILE *out, const char *text, size_t at, size_t indent, size_t width);

/* The same in lines of TEXT_WIDTH, or of a terminal that has fewer. */
void text_fold(FILE *out, const char *text, size_t at, size_t indent);
