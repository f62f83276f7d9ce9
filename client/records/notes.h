/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes on a sum of several nodes: what makes it too small or too large. One sentence per line. */
#pragma once

#include <stdio.h>

#include "client/launcher/hostlist.h"
#include "client/records/join.h"

/* Drops each record that repeats another one, and prints which. */
void notes_leave_out_twins(struct record_list *list, FILE *out);

/* Writes all notes, also on runs, and on records that are in no run. */
void notes_write(const struct join *join, FILE *out);

/* Writes which hosts of @expected have no record, and returns how many. */
size_t notes_write_missing(const struct join *join, const struct hostlist *expected, FILE *out);
