/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The latest passages of one process, for `uncore trace`: a file of a fixed size that the process
 * maps, and writes to without a system call or a lock. When it is full, the oldest records are
 * overwritten. What a process that is killed has written stays.
 *
 * Times are in ns of the node's CLOCK_MONOTONIC.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/libuncore/uncore.h"
#include "client/reader/reader.h"

#define TRACE_MAGIC UINT64_C(0x31656361727475) /* "utrace1" */

enum {
	TRACE_RECORDS = 1 << 17,
	TRACE_REGIONS = 1000,
	TRACE_NAME_BYTES = 64,
	TRACE_HOST_BYTES = 256,
	TRACE_ALL = 0xff,          /* in the place of a socket: all together */
	TRACE_FIRST_STATE = 65537, /* lanes of states begin above those of spans */
};

enum trace_kind {
	TRACE_BEGIN = 1,  /* a thread goes into region .which */
	TRACE_END,        /* ... and out of it */
	TRACE_COUNT,      /* .value: what metric .which & 0xff of socket .which >> 8 has counted */
	TRACE_SPAN_BEGIN, /* a span in region .which; the low half of .value is its lane: no two
			     spans are in one at a time */
	TRACE_SPAN_END,
};

struct trace_record {
	uint64_t time_ns, value;
	uint32_t thread;
	uint16_t which;
	uint16_t state; /* kind | lap << 8, written last; the lap tells a record from older ones */
};

struct trace_head {
	uint64_t magic;
	uint64_t n; /* atomic: records so far */
	/* CLOCK_BOOTTIME and CLOCK_REALTIME, when CLOCK_MONOTONIC was 0 */
	uint64_t boot_ahead_ns, wall_ahead_ns;
	int64_t rank; /* -1: not known */
	int32_t pid;
	uint32_t n_metrics;    /* atomic; 0: not known yet */
	uint64_t counted_ns;   /* atomic: of the last counts */
	uint64_t is_described; /* atomic: a thread writes the two fields below, or has done so */
	char host[TRACE_HOST_BYTES];
	char metrics[UNCORE_METRICS_MAX][UNCORE_NAME_MAX];
	char units[UNCORE_METRICS_MAX][UNCORE_NAME_MAX];
};

struct trace_file {
	struct trace_head head;
	char names[TRACE_REGIONS][TRACE_NAME_BYTES]; /* of regions; "": not yet */
	struct trace_record records[TRACE_RECORDS];
};

/*
 * Makes the file that UNCORE_TRACE names. In a forked child (@is_child) only if its name differs
 * from the parent's. *@ret NULL: none is wanted. 0; negative errno, with a sentence.
 */
int trace_open(bool is_child, struct trace_file **ret);

/* Adds a record. Async-signal-safe. */
void trace_note(struct trace_file *trace, enum trace_kind kind, uint64_t time_ns, unsigned which,
	uint64_t value);

/* Adds what the sockets have counted, at most once a millisecond. @names, @units: of the metrics.
 */
void trace_counts(struct trace_file *trace, const struct readout *readout,
	const char (*names)[UNCORE_NAME_MAX], const char (*units)[UNCORE_NAME_MAX],
	uint32_t n_metrics);

/* A region's name, before it is noted. */
void trace_name(struct trace_file *trace, unsigned region, const char *name);
