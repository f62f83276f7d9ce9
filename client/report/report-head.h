/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whose report a file is. The library brings no reader of JSON, so this one knows just enough of it
 * to find the members at the top of a record. Texts stay as they are written, with their escapes:
 * they are only compared.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How a team's name begins that `uncore run` made up. */
#define REPORT_HEAD_UNNAMED "run-"

struct report_head {
	char host[256];
	char step[128]; /* the job step's team, also of a process alone; "": there is none */
	uint64_t run;
	uint64_t pid;                /* of a process alone */
	uint64_t begun_ns, ended_ns; /* CLOCK_REALTIME; 0: not known */
};

/* @text may be cut. False: it is something else than a record. */
bool report_head_read(const char *text, struct report_head *ret);

/*
 * May the report @ours replace @other, which is in its place? Only if it has all that @other has,
 * or if @other is of an earlier run: it ended before @since_ns, when the processes of ours were not
 * there yet, and is of the same step or of none. Times of two hosts cannot be compared.
 */
bool report_head_replaces(
	const struct report_head *ours, uint64_t since_ns, const struct report_head *other);
