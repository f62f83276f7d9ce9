/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A record as a table for people: a line for each region, with all sockets summed, and a second
 * line only if there is something to add. If other processes write to the same stream, the caller
 * prints into memory, and writes the text by one call.
 */
#pragma once

#include <stdio.h>

#include "client/report/record.h"

/* Prints heading, table and footnotes. */
void record_print(FILE *out, const struct record *record);

/* Prints a name as a first cell. One that is wider than @width gets a line of its own. */
void record_print_name(FILE *out, const char *name, unsigned width);

/* Prints the table alone. */
void record_print_regions(FILE *out, const struct record *record);

/* "lbm (team 4711.0, host n01, 4 of 4 ranks)" */
void record_print_origin(FILE *out, const struct record *record);

/* ", 3 of 4 ranks" */
void record_print_ranks(FILE *out, const struct record *record);

/* Prints the lines below the table: flags, absent metrics, the meaning of columns, deaths and
 * failures, and caveats on the figures. */
void footnotes_print(FILE *out, const struct record *record);
