/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the file of a process (client/trace/ring.h), which may be anything, and may still be
 * written. */
#pragma once

#include "client/trace/ring.h"

struct ring_file {
	struct trace_file *file; /* owned; its texts are plain and end, its numbers are in range */
	uint64_t first, n;       /* records that are there: first .. first + n - 1 */
	uint64_t n_lost;         /* overwritten, or half written */
};

/* 0; -ENOMSG: it is not such a file; -ENOMEM; errors of open(2) and read(2). */
int ring_file_read(const char *path, struct ring_file *ret);
void ring_file_done(struct ring_file *ring);

/* Record @number, with its kind in .state; NULL: it is half written, or not a record. */
const struct trace_record *ring_file_record(const struct ring_file *ring, uint64_t number);
