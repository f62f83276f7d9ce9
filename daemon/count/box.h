/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A box: one PMU instance on one CPU, its perf events, and what they have counted so far.
 *
 * The kernel's view. Events of one box may form a perf group (one read() for all), never events of
 * two boxes. A pinned group is on the PMU always or in error state, where read() returns 0; a
 * flexible one may share the PMU with others and then runs only part of the time. So a box is
 * opened as a pinned group, else as a flexible group, else as single flexible events, in this
 * order. What a shared PMU counted is scaled by enabled / running and called estimated.
 *
 * Some drivers (AMD's, kernel 6.12 arch/x86/events/amd/uncore.c) take a group that needs more
 * counters than there are, and never put it on the PMU: box_settle() finds that out.
 *
 * Counts are kept as sums of differences, so that they go on after the hardware went back.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/count/perf.h"
#include "daemon/plan/plan.h"

enum box_mode { BOX_CLOSED, BOX_PINNED, BOX_FLEXIBLE, BOX_SINGLES };

/* An event of a box. The ledger keeps all of it. */
struct box_event {
	uint64_t id;                          /* the kernel's, PERF_EVENT_IOC_ID */
	uint64_t raw, enabled_ns, running_ns; /* as last read */
	uint64_t count;                       /* sum of differences since the generation began */
	uint64_t moved_ns;                    /* a clock: when its count was last seen to change */
};

/* What must outlive the process for the counts of a box to go on: a part of the ledger. */
struct box_record {
	uint32_t mode;
	int32_t error;
	uint32_t quality;
	uint32_t reopened;
	uint64_t read_ns;
	struct box_event events[PLAN_EVENTS_MAX];
};

struct box {
	const struct plan_box *plan; /* borrowed */
	const struct perf *perf;     /* borrowed */
	enum box_mode mode;
	int error;        /* negative errno of the last open or read; 0: it was read */
	uint32_t quality; /* passing flags of the last read */
	uint64_t read_ns; /* when it was last read, CLOCK_MONOTONIC; 0: not since it was opened */
	bool stopped;     /* as of the last read it does not count any more */
	bool reopened;    /* counts were lost before it was opened; the next read says so */
	struct box_event events[PLAN_EVENTS_MAX];
	int fds[PLAN_EVENTS_MAX];           /* of the events */
	uint32_t clock_ms[PLAN_EVENTS_MAX]; /* a clock: how long it may stand; else 0 */
};

/*
 * Opens the events of @plan; the box must be zero. What the kernel counted before is not part of
 * its counts. 0, or the errno of perf_event_open(2): the box then stays closed, and .error says it.
 */
int box_open(struct box *box, const struct plan_box *plan, const struct perf *perf);

/*
 * Takes over an open box from the process before: @box has its mode, events and all else that
 * outlives a process, @fds (which become the box's) are its descriptors. -ESTALE: they stand still
 * or fell apart, as after their socket was offline, and are closed; box_reopen() is next. 0.
 */
int box_adopt(struct box *box, const struct plan_box *plan, const struct perf *perf,
	const int fds[], uint64_t now_ns);

/* Leaves a box closed that the kernel refused with @error when the generation began. */
void box_leave_closed(
	struct box *box, const struct plan_box *plan, const struct perf *perf, int error);

/* Writes into @record what is to outlive the process; the events that the box does not have stay as
 * they were. box_restore() takes it from there, for box_adopt() or box_reopen(). */
void box_save(const struct box *box, struct box_record *ret);
void box_restore(struct box *box, const struct box_record *record);

/* Opens new events for a closed box; their counts are added to those it has. As box_open(). */
int box_reopen(struct box *box, const struct plan_box *plan, const struct perf *perf);

/* Opened by this process, which has not read it yet. */
static inline bool box_is_new(const struct box *box)
{
	return box->mode != BOX_CLOSED && !box->read_ns;
}

/*
 * For a flexible group that has been open for SETTLE_MS: if it was not on the PMU in all that
 * time, opens its events one by one instead; in BOX_ROTATION_MS each of them has its turn (12 of 4
 * ms, perf_event_mux_interval_ms). 1: it did that; 0: it did not; or as box_open().
 */
enum { BOX_SETTLE_MS = 20, BOX_ROTATION_MS = 60 };
int box_settle(struct box *box);

/*
 * Reads all events once. -ENODATA as .error: an event was never on the PMU so far. Sets .quality;
 * on failure .error and PAGE_PARTIAL, counts stay. A pinned group that lost its counters fails with
 * -EBUSY until it gets them back. @now_ns: CLOCK_MONOTONIC.
 */
void box_read(struct box *box, uint64_t now_ns);

void box_close(struct box *box);

/* "pinned", "flexible", ... */
const char *box_mode_name(enum box_mode mode);
