/* SPDX-License-Identifier: BSD-3-Clause */
/* What makes the sum of several nodes less, or more, than it seems: sentences, each on a line. */
#pragma once

#include <stdio.h>

#include "client/launcher/hostlist.h"
#include "client/records/join.h"

/* Drops, and names, each record that another one repeats. */
void notes_leave_out_twins(struct record_list *list, FILE *out);

/* Also which runs the records are of, and which are in none. */
void notes_write(const struct join *join, FILE *out);

/* The hosts of @expected that have no record; returns how many. */
size_t notes_write_missing(const struct join *join, const struct hostlist *expected, FILE *out);
