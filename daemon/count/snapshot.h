/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A snapshot: the events of a socket's boxes, read by a program in the kernel that one system call
 * runs, instead of one read(2) for each box. Helpers of the kernel read each event as a read(2) on
 * the event's own CPU does, and fail on any other CPU, or if a pinned event is off its PMU. Their
 * results are stored beside the values. A box with a failure is read by read(2) in that sweep.
 *
 * bpf_perf_event_read_value() reads the leader of a group with its times, which are those of the
 * group. bpf_perf_event_read() reads the other events: it asks no clock, and takes a third of the
 * time. Only pinned boxes take part: before Linux 5.17 the times of events that are off the PMU
 * were wrong.
 *
 * THREAT MODEL in uncored-security(7) says why the program reads the twelfth argument of its
 * context, and does nothing unless that is a number which only this process knows.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/fault.h"
#include "daemon/count/box.h"

struct snapshot {
	int program_fd;
	const struct box_reading *readings; /* mapped, the program writes them; NULL: empty */
	bool is_used;                       /* atomic */
	uint64_t secret;
	size_t size_bytes;
	unsigned n_events, events_per_call;
	unsigned n_long;     /* calls in a row that took too long */
	uint64_t longest_ns; /* call */
};

/*
 * Loads the program that reads @boxes, and sets their .reading; @snapshot must be all zero. Errors
 * of bpf(2), mmap(2) and getrandom(2), -ENOMEM; -ENODATA: no box can take part. Then @why says what
 * to do, and the snapshot is empty.
 */
int snapshot_load(
	struct snapshot *snapshot, struct box boxes[], unsigned n_boxes, struct fault *why);

/* Runs the program once, for no event, without the privilege that loaded it. If that works,
 * snapshot_take() works from now on. Errors of bpf(2). */
int snapshot_use(struct snapshot *snapshot, struct fault *why);

/* Reads all boxes that take part. False: their readings are of no use. */
bool snapshot_take(struct snapshot *snapshot);

static inline bool snapshot_is_used(const struct snapshot *snapshot)
{
	return __atomic_load_n(&snapshot->is_used, __ATOMIC_ACQUIRE);
}

void snapshot_done(struct snapshot *snapshot);
