/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON as text. The library is loaded into programs that may have a JSON library of their own, in
 * another version and under the same names, so it brings none and writes what little it says here.
 *
 * Nothing fails on the way: jsonwriter_finish() says whether there was memory for all. Texts become
 * valid UTF-8, whatever they are. No output depends on the locale.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { JSONWRITER_DEPTH_MAX = 16 };

struct jsonwriter {
	FILE *out; /* to text; so the struct must stay where it is */
	char *text;
	size_t size_bytes;
	bool pretty;  /* a line for each member; else all in one line */
	bool follows; /* the next member is not the first */
	unsigned depth;
	char closings[JSONWRITER_DEPTH_MAX]; /* of what is open */
};

/* 0, -ENOMEM: all that follows does nothing, then. */
int jsonwriter_init(struct jsonwriter *ret, bool pretty);

/* @key NULL: an element of an array, or the document itself. */
void jsonwriter_object(struct jsonwriter *json, const char *key);
void jsonwriter_array(struct jsonwriter *json, const char *key);
void jsonwriter_close(struct jsonwriter *json); /* what was opened last */
void jsonwriter_number(struct jsonwriter *json, const char *key, uint64_t number);
void jsonwriter_text(struct jsonwriter *json, const char *key, const char *text); /* NULL: null */

/* *@ret_text is the caller's, without a final newline. 0, -ENOMEM. */
int jsonwriter_finish(struct jsonwriter *json, char **ret_text);

void jsonwriter_done(struct jsonwriter *json);
