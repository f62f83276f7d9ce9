/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A record as a table for people: a line for each region, with all sockets summed, and a second one
 * only where something must be said. The caller prints into memory where other processes write to
 * the same stream, and writes the text by one call.
 */
#pragma once

#include <stdio.h>

#include "client/report/record.h"

/* Heading, table, and what limits the figures. */
void record_print(FILE *out, const struct record *record);

/* The table alone. */
void record_print_regions(FILE *out, const struct record *record);

/* "lbm (team 4711.0, host n01, 4 of 4 ranks)" */
void record_print_origin(FILE *out, const struct record *record);
