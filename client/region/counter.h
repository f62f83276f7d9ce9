/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The event that UNCORE_MISSES asks for, and a counter of it: of the calling thread, which counts
 * while the thread runs outside of the kernel.
 *
 * The program may have closed the descriptor, so that its number is another file's now, from which
 * a read(2) would take what belongs to the program. So the event's id is compared before each use
 * of the descriptor. The page through which user space reads is not affected.
 */
#pragma once

#include <stdint.h>

#include "client/region/table.h"

struct perf_event_mmap_page;

struct counter {
	int fd;
	uint64_t id;
	struct perf_event_mmap_page *page; /* NULL: it is read by read(2) */
};

struct counter_event {
	char name[TABLE_EVENT_BYTES];
	uint32_t type; /* as of perf_event_open(2) */
	uint64_t config;
};

/* What UNCORE_MISSES asks for; it does not change. */
struct counter_wish {
	bool is_set;       /* else for nothing */
	bool is_platforms; /* the event of the machine's platform; else .event */
	struct counter_event event;
};

/* 0; -EINVAL with a sentence: nothing is counted. */
int counter_wish(struct counter_wish *ret);

/*
 * Opens the event for the calling thread. -EAGAIN: it is the platform's, which is not known yet.
 * After an error the reason is in the table, unless there was one before. The sentence of the
 * thread stays: that is about its region.
 */
int counter_open(struct table *table, const struct counter_wish *wish, struct counter *ret);

/*
 * What it has counted since it was opened. After a failure the reason is in the table. -EBADF: the
 * program has closed the descriptor. -EBUSY: the kernel let other events have the CPU's counter for
 * a part of the time, so this is not all.
 */
int counter_read(struct table *table, const struct counter *counter, uint64_t *ret);

/* The event's count: what the kernel has added up, and the CPU's counter of @width bits, which is a
 * signed number that the kernel may have begun anywhere. */
static inline uint64_t counter_sum(uint64_t offset, uint64_t value, unsigned width)
{
	return offset + (uint64_t)((int64_t)(value << (64 - width)) >> (64 - width));
}

/* By the thread that opened it. */
void counter_close(const struct counter *counter);

/* In a forked child: its copy of the descriptor of the thread that forked. The kernel gives it no
 * page. Those of the parent's other threads stay open until the child ends or executes a program.
 */
void counter_close_inherited(const struct counter *counter);
