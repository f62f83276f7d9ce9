/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of programs that become the text of a marker, or stand for an address or a number. */
#pragma once

#include <stdint.h>
#include <wchar.h>

enum { JOINED_BYTES = 2048 }; /* as long as the whole text of a short name */

/*
 * @first, @between and @second as one text: in @buffer, or @second itself if @first is NULL or "".
 * Of what does not fit, a hash takes the place.
 */
const char *marker_join(
	const char *first, const char *between, const char *second, char buffer[JOINED_BYTES]);

/* @text as UTF-8 in @buffer, whatever the locale; U+FFFD stands for what is not a character. */
const char *wide_narrow(const wchar_t *text, char buffer[JOINED_BYTES]);

/*
 * Texts that stay as long as the process does, so that an address or a number may stand for them:
 * domains, and strings that a program registers. Equal texts are kept once.
 *
 * The types and their order are ITT's: its programs read a domain from .is_enabled on, and a string
 * from .text on.
 */
struct kept {
	volatile int is_enabled; /* 1 */
	const char *text;
	void *wide;
	int number;       /* from 1 on */
	struct kept *one; /* unless NULL, which of several with this text stands for all */
	struct kept *next;
};

/* NULL, which is as "", if there is no memory. Any thread. */
struct kept *marker_keep(const char *text);

/* NULL: no text has this number. */
const struct kept *marker_kept(int number);
