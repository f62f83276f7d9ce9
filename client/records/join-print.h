/* SPDX-License-Identifier: BSD-3-Clause */
/* The sum of several nodes for people. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "client/records/join.h"

enum { JOIN_PRINT_LINES = 60 }; /* of all nodes, that are printed without being asked for */

/* @notes: lines from notes.h. @nodes: print each region of each node, however many there are. */
void join_print(FILE *out, const struct join *join, const char *notes, bool nodes);

/* Parts of it: a table, if several nodes can be compared; and the notes. */
void join_print_imbalance(FILE *out, const struct join *join);
void join_print_notes(FILE *out, const char *notes);
