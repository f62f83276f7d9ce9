/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON as text. The library is loaded into programs that may have a JSON library of their own, in
 * another version and under the same names. So it does not use a JSON library: this file writes the
 * JSON it needs.
 *
 * The functions that write report no errors: jsonwriter_finish() says whether there was enough
 * memory. Any text becomes valid UTF-8. No output depends on the locale.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { JSONWRITER_DEPTH_MAX = 40 };

struct jsonwriter {
	FILE *out; /* the caller's, or writes to .text, so the struct must not be moved */
	char *text;
	size_t size_bytes;
	bool pretty;  /* a line for each member; else all in one line */
	bool follows; /* the next member is not the first */
	unsigned depth;
	char closings[JSONWRITER_DEPTH_MAX]; /* of the open objects and arrays */
};

/* 0; -ENOMEM: the functions below do nothing then. */
int jsonwriter_init(struct jsonwriter *ret, bool pretty);

/* Writes to the caller's stream at once: of the functions at the end none is needed. */
void jsonwriter_init_to(struct jsonwriter *ret, bool pretty, FILE *out);

/* @key NULL: an element of an array, or the document itself. */
void jsonwriter_object(struct jsonwriter *json, const char *key);
void jsonwriter_array(struct jsonwriter *json, const char *key);
void jsonwriter_close(struct jsonwriter *json); /* closes what was opened last */
void jsonwriter_number(struct jsonwriter *json, const char *key, uint64_t number);
void jsonwriter_signed(struct jsonwriter *json, const char *key, int64_t number);
/* null if it is not known */
void jsonwriter_known(struct jsonwriter *json, const char *key, bool is_known, int64_t number);
void jsonwriter_flag(struct jsonwriter *json, const char *key, bool flag);

/* A number, true, false or null, as it is written. */
void jsonwriter_digits(struct jsonwriter *json, const char *key, const char *digits);

/* @text NULL is written as null; jsonwriter_text_or_null() also writes "" as null. */
void jsonwriter_text(struct jsonwriter *json, const char *key, const char *text);
void jsonwriter_text_or_null(struct jsonwriter *json, const char *key, const char *text);

/* Writes nothing if @text is "". */
void jsonwriter_text_if_any(struct jsonwriter *json, const char *key, const char *text);

/* Writes up to 15 digits, or more if reading back the same number needs more; null if it is not
 * finite. */
void jsonwriter_real(struct jsonwriter *json, const char *key, double number);

/* The same of @number rounded to so many digits. */
void jsonwriter_rounded(struct jsonwriter *json, const char *key, double number, int digits);

/* The caller owns *@ret_text, which has no final newline. 0, -ENOMEM. */
int jsonwriter_finish(struct jsonwriter *json, char **ret_text);

/* Finishes, and writes the text with a newline. 0, -ENOMEM. */
int jsonwriter_print(struct jsonwriter *json, FILE *out);

void jsonwriter_done(struct jsonwriter *json);
