/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of CSV as in RFC 4180, but with Unix newlines. All subcommands use this dialect, which
 * uncore(1) describes. A field is empty if there is no figure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct csv {
	FILE *out;
	bool follows;   /* the next field is not the first of its row */
	char separator; /* 0: a comma */
};

void csv_text(struct csv *csv, const char *text);
void csv_number(struct csv *csv, uint64_t number);
void csv_known(struct csv *csv, bool is_known, int64_t number); /* empty if it is not known */
void csv_rounded(struct csv *csv, double number);               /* empty for NAN */
void csv_real(struct csv *csv, double number);
void csv_empty(struct csv *csv, unsigned n_fields);
void csv_end(struct csv *csv);

/* The words of @quality with blanks between them. Only "absent" if there is no figure. */
void csv_quality(struct csv *csv, uint32_t quality);

/* The reason @why there is no figure; empty if there is one. NULL: the reason is not known. */
void csv_absent(struct csv *csv, uint32_t quality, const char *why);
