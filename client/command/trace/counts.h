/* SPDX-License-Identifier: BSD-3-Clause */
/* What the processes of a node saw of its sockets' counts, as rates over time. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "client/command/trace/ring-file.h"

struct counts_entry {
	unsigned host, which; /* which: socket << 8 | metric */
	uint64_t time_ns, value;
};

struct counts {
	size_t n;
	struct counts_entry *entries; /* owned */
};

/* Takes the counts of a process on @host, with @ahead_ns added to their times. 0; -ENOMEM. */
int counts_add(
	struct counts *counts, const struct ring_file *ring, unsigned host, uint64_t ahead_ns);

/* The track of a socket; that of TRACE_ALL is the caller's to describe. */
uint64_t counts_track(unsigned host, unsigned socket);

/* 0; -ENOMEM. */
int counts_append(struct counts *counts, struct counts_entry entry);

/* By host, .which, time and value. */
void counts_sort(struct counts *counts);

/*
 * Writes a counter for each metric of each socket, and of all together. A rate holds from one
 * reading to the next one of any process. @names: of hosts; @file: whose metrics these are.
 */
void counts_write(FILE *out, struct counts *counts, const char (*names)[TRACE_HOST_BYTES],
	const struct trace_file *file);

void counts_done(struct counts *counts);
