/* SPDX-License-Identifier: BSD-3-Clause */
/* Bars and courses of blocks: of Unicode where the locale's characters are UTF-8, else of ASCII. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* Are the characters of the locale, which the environment names, UTF-8? */
bool blocks_are_utf8(void);

/* "[####==    ]", @width columns in all: the share of reads, then that of writes, of a bar that is
 * full at 1. */
void blocks_bar(FILE *out, double reads, double writes, unsigned width, bool utf8);

/* A column for each of @n values: a blank for NAN, the lowest block for 0, the highest for @most.
 */
void blocks_course(FILE *out, const float values[], unsigned n, double most, bool utf8);
