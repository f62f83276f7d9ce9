/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses numbers as people and the kernel write them: digits without sign or blanks. strtoull(3)
 * would accept both. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Parses the number at the beginning of @text. @base is as for strtoull(3): 0 takes "0x1f" as
 * hexadecimal and "017" as octal. Returns the rest of @text after the number. NULL: @text does not
 * begin with a digit, or the number is above @most; *@ret is then untouched.
 */
const char *number_parse(const char *text, int base, uint64_t most, uint64_t *ret);

/*
 * As number_parse() in base 10, for a range like "0-7" or a single number, which is then both ends.
 * NULL, too, if the end is below the beginning.
 */
const char *number_parse_range(
	const char *text, uint64_t most, uint64_t *ret_first, uint64_t *ret_last);

/* As number_parse(), for a @text that must hold nothing but the number. */
bool number_parse_whole(const char *text, int base, uint64_t most, uint64_t *ret);

/* For a @text that must hold nothing but a number like "0.5", with a point in any locale. The part
 * before the point is at most @most. */
bool number_parse_decimal(const char *text, uint64_t most, double *ret);
