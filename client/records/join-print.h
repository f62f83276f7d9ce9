/* SPDX-License-Identifier: BSD-3-Clause */
/* The sum of several nodes for people. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "client/records/join.h"

enum { JOIN_PRINT_LINES = 60 }; /* lines of nodes that are printed by default, at most */

/* @notes: lines from notes.h. @nodes: print each region of each node, even if they are many. */
void join_print(FILE *out, const struct join *join, const char *notes, bool nodes);

/* Parts of this output: the imbalance as a table, if several nodes can be compared; the notes. */
void join_print_imbalance(FILE *out, const struct join *join);
void join_print_notes(FILE *out, const char *notes);
