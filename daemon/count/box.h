/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A box: one PMU instance on one CPU, its perf events, and their counts so far.
 *
 * The events of one box may form a perf group, which one read() reads. A perf group cannot have
 * events of two boxes. A pinned group is either on the PMU all the time or in error state, where
 * read() returns 0. A flexible group may share the PMU with others and then runs only part of the
 * time. So a box is opened as a pinned group, else as single pinned events, else as a flexible
 * group, else as single flexible events, in this order. Counts of a shared PMU are scaled by
 * enabled / running and called estimated.
 *
 * Some drivers take no groups (arm_dmc620_pmu): their events are single and pinned.
 *
 * Some drivers (AMD's, kernel 6.12 arch/x86/events/amd/uncore.c) accept a group that needs more
 * counters than the PMU has, and never put it on the PMU. box_settle() finds such groups.
 *
 * Counts are kept as sums of differences, so that they continue after a hardware counter restarted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "daemon/count/perf.h"
#include "daemon/plan/plan.h"

/* The ledger keeps it, so a number does not change. */
enum box_mode { BOX_CLOSED, BOX_PINNED, BOX_FLEXIBLE, BOX_SINGLES, BOX_PINNED_SINGLES };

/* An event of a box. The ledger keeps all of it. */
struct box_event {
	uint64_t id;                          /* the kernel's ID, PERF_EVENT_IOC_ID */
	uint64_t raw, enabled_ns, running_ns; /* as last read */
	uint64_t count;                       /* sum of differences since the generation began */
	uint64_t moved_ns; /* of a clock: when its count was last seen to change */
};

/* The part of the ledger from which the next process continues the counts of a box. */
struct box_record {
	uint32_t mode;
	int32_t error;
	uint32_t quality;
	uint32_t reopened;
	uint64_t read_ns;
	struct box_event events[PLAN_EVENTS_MAX];
};

/* A pinned group as a program in the kernel read it: see snapshot.h. */
struct box_reading {
	uint64_t count, enabled_ns, running_ns; /* of the leader */
	int64_t error; /* of the helper; if it is not 0, the others mean nothing */
};

struct box {
	const struct plan_box *plan; /* borrowed */
	const struct perf *perf;     /* borrowed */
	enum box_mode mode;
	int error;        /* negative errno of the last open or read; 0: none */
	uint32_t quality; /* passing flags of the last read */
	uint64_t read_ns; /* when it was last read, CLOCK_MONOTONIC; 0: not since it was opened */
	bool stopped;     /* it no longer counted at the last read */
	bool reopened;    /* counts were lost before it was opened; the next read flags it */
	bool waits;       /* it must not be pinned: see box_wait_behind() */
	const struct box_reading *reading; /* NULL: it has no part in a snapshot */
	const int64_t *other_counts;       /* of the events behind the leader, or negative errno */
	struct box_event events[PLAN_EVENTS_MAX];
	int fds[PLAN_EVENTS_MAX];           /* of the events */
	uint32_t clock_ms[PLAN_EVENTS_MAX]; /* of a clock: how long it may stand still; else 0 */
};

static inline bool box_is_pinned(const struct box *box)
{
	return box->mode == BOX_PINNED || box->mode == BOX_PINNED_SINGLES;
}

/*
 * Call it for an extra box (plan.h) before it is opened or adopted. The kernel gives pinned events
 * their counters before all others, also if those were opened first. So an extra box must not be
 * pinned while its main box, @main, is open and not pinned. @main is NULL if there is none.
 */
static inline void box_wait_behind(struct box *extra, const struct box *main)
{
	extra->waits = main && main->mode != BOX_CLOSED && !box_is_pinned(main);
}

/*
 * Opens the events of @plan; @box must be all zero, except for .waits. Its counts begin at 0:
 * earlier counts of the kernel are not part of them. 0, or the errno of perf_event_open(2): the box
 * then stays closed, and .error has the errno.
 */
int box_open(struct box *box, const struct plan_box *plan, const struct perf *perf);

/*
 * Takes over a box that an earlier process opened. @box has the state that box_restore() read; @fds
 * are the descriptors of its events, which the box owns from now on. 0; -ESTALE: the events no
 * longer count or their group fell apart, for example after their socket was offline; or they are
 * pinned and .waits forbids it. They are then closed; call box_reopen().
 */
int box_adopt(struct box *box, const struct plan_box *plan, const struct perf *perf,
	const int fds[], uint64_t now_ns);

/* Sets up @box as closed: the kernel refused it with @error when the generation began. */
void box_leave_closed(
	struct box *box, const struct plan_box *plan, const struct perf *perf, int error);

/* Writes the state that outlives the process to *@ret, except the records of events that the box
 * does not have. box_restore() reads it back, before box_adopt() or box_reopen(). */
void box_save(const struct box *box, struct box_record *ret);
void box_restore(struct box *box, const struct box_record *record);

/* Opens new events for a closed box, whose counts continue. Errors of box_open(). */
int box_reopen(struct box *box, const struct plan_box *plan, const struct perf *perf);

/* This process opened the box and has not read it yet. */
static inline bool box_is_new(const struct box *box)
{
	return box->mode != BOX_CLOSED && !box->read_ns;
}

/*
 * Call it when a flexible group has been open for BOX_SETTLE_MS. If the group has not been on the
 * PMU in that time, opens its events one by one instead. Within BOX_ROTATION_MS each of them has
 * its turn on the PMU (12 turns of 4 ms, perf_event_mux_interval_ms). 1: opened them one by one; 0:
 * left the box as it was; errors of box_open().
 */
enum { BOX_SETTLE_MS = 20, BOX_ROTATION_MS = 60 };
int box_settle(struct box *box);

/*
 * Takes .reading if a snapshot was @taken and has no error for any event of the box; else reads
 * all events once. Sets .quality. On failure sets .error and PAGE_PARTIAL; counts stay. .error is
 * -ENODATA if an event has never been on the PMU, and -EBUSY while a pinned group is without its
 * counters. @now_ns: CLOCK_MONOTONIC. True: it took .reading.
 */
bool box_read(struct box *box, bool taken, uint64_t now_ns);

void box_close(struct box *box);

/* "pinned", "flexible", ... */
const char *box_mode_name(enum box_mode mode);
