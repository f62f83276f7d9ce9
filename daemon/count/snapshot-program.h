/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program of a snapshot. One run reads some events in a row: the first and the end of these are
 * its arguments PROGRAM_FIRST and PROGRAM_END. It returns 1, or 0 if PROGRAM_SECRET is wrong.
 */
#pragma once

#include <stdint.h>

enum { PROGRAM_FIRST = 9, PROGRAM_END = 10, PROGRAM_SECRET = 11 };

/* The leaders of groups are the first events. The readings are a struct box_reading for each
 * leader, and behind these a word for each other event: its count, or a negative error. */
struct snapshot_program {
	int events_fd;   /* map of perf events */
	int readings_fd; /* map whose only value has the readings */
	unsigned n_leaders, n_events;
	uint64_t secret;
};

/* A descriptor, which the caller owns; errno of bpf(2). */
int snapshot_program_load(const struct snapshot_program *program);
