/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The head of a report: which record a file contains. The library has no JSON reader. This one
 * finds the top members of a record that json.h wrote, each on a line of its own; a file that was
 * written anew in another form is not a report. Texts stay as they are written, with their escapes,
 * because they are only compared.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The prefix of team names that `uncore run` makes up. */
#define REPORT_HEAD_UNNAMED "run-"

struct report_head {
	char host[256];
	char step[128]; /* "": there is none */
	uint64_t run;
	uint64_t pid;                /* of a process alone */
	uint64_t begun_ns, ended_ns; /* CLOCK_REALTIME; 0: not known */
};

/* Reads the head of @text, which may be cut. False: it is not a record of a program. */
bool report_head_read(const char *text, struct report_head *ret);

/*
 * May the report @ours replace the report @other at its path? Only if ours includes all of @other,
 * or if @other is of an earlier run of the same step, or of no step. A run is earlier if it ended
 * before @since_ns, when the processes of ours had not begun. Times of two hosts cannot be
 * compared.
 */
bool report_head_replaces(
	const struct report_head *ours, uint64_t since_ns, const struct report_head *other);
