/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* How many bytes the character at @text has; 0: it is a control character, or not UTF-8. */
size_t text_plain_bytes(const char *text);

/* Is @text valid UTF-8 (RFC 3629) without control characters (C0, DEL, C1)? */
bool text_is_plain(const char *text);

/* Writes @text with "?" in the place of each byte that text_is_plain() refuses. */
void text_print_plain(FILE *out, const char *text);

/* The same in place. */
void text_make_plain(char *text);
