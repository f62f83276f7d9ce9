/* SPDX-License-Identifier: BSD-3-Clause */
/* A report: JSON in memory that clients may map for reading. Each report on a topic overwrites the
 * last one in the same memory, so that frequent requests cost no memory. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct shared_report {
	int write_fd, read_fd; /* the same memory; -1: there is none yet */
	uint64_t size_bytes;   /* of the last report */
	uint64_t made_ns;      /* CLOCK_MONOTONIC; 0: it is out of date */
};

#define SHARED_REPORT_INIT                                                                         \
	{                                                                                          \
		.write_fd = -1, .read_fd = -1                                                      \
	}

/* -ENOMEM, -EMFILE and other errno of memfd_create(2) and pwrite(2). */
int shared_report_write(struct shared_report *report, const char *json);

/* Was it written within the last @age_ns, and not invalidated since? */
bool shared_report_is_recent(const struct shared_report *report, uint64_t age_ns);

void shared_report_invalidate(struct shared_report *report);

/* Closes the memory; the next shared_report_write() makes another. */
void shared_report_close(struct shared_report *report);
