/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/count/box.h"

#include <errno.h>
#include <string.h>

#include "common/macro.h"

/* The result of read() with the read_format of event_attr(); perf_event_open(2). */
struct group_read {
	uint64_t n_values;
	uint64_t enabled_ns;
	uint64_t running_ns;
	uint64_t values[PLAN_EVENTS_MAX];
};

enum { ERRNO_MAX = 4095 /* MAX_ERRNO of the kernel */ };

/* An event has stopped if its enabled time stands still. Reads closer together prove nothing. */
static const uint64_t FROZEN_AFTER_NS = 1000000;

static struct perf_event_attr event_attr(const struct plan_box *plan, unsigned i, bool pinned)
{
	const struct event_code *code = &plan->events[i].code;

	/* exclude_* stay 0: uncore drivers refuse them (PERF_PMU_CAP_NO_EXCLUDE). */
	return (struct perf_event_attr){
		.type = plan->type,
		.size = sizeof(struct perf_event_attr),
		.config = code->config,
		.config1 = code->config1,
		.config2 = code->config2,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
		.pinned = pinned,
	};
}

void box_close(struct box *box)
{
	if (box->mode == BOX_CLOSED)
		return;
	for (unsigned i = 0; i < box->plan->n_events; i++)
		if (box->fds[i] >= 0)
			box->perf->close(box->perf, box->fds[i]);
	box->mode = BOX_CLOSED;
}

static bool is_single(enum box_mode mode)
{
	return mode == BOX_SINGLES || mode == BOX_PINNED_SINGLES;
}

static unsigned events_per_group(const struct box *box)
{
	return is_single(box->mode) ? 1 : box->plan->n_events;
}

/* One group read, starting at event @first. */
static int read_group(const struct box *box, unsigned first, struct group_read *ret)
{
	unsigned n = events_per_group(box);
	size_t expected = offsetof(struct group_read, values) + n * sizeof(uint64_t);
	ssize_t size = box->perf->read(box->perf, box->fds[first], ret, sizeof *ret);

	if (size < 0)
		return (int)size;
	if (size == 0)
		return -EBUSY; /* a pinned group that the kernel could not keep on the PMU */
	if ((size_t)size != expected || ret->n_values != n)
		return -ENODEV; /* its CPU went offline and the group fell apart */
	return 0;
}

/* Takes the present counts as the point to count from. */
static int take_baseline(struct box *box)
{
	for (unsigned i = 0; i < box->plan->n_events; i += events_per_group(box)) {
		struct group_read group;
		int r = read_group(box, i, &group);

		if (r < 0)
			return r;
		for (unsigned k = 0; k < group.n_values; k++) {
			box->events[i + k].raw = group.values[k];
			box->events[i + k].enabled_ns = group.enabled_ns;
			box->events[i + k].running_ns = group.running_ns;
		}
	}
	return 0;
}

static int open_as(struct box *box, enum box_mode mode)
{
	box->mode = mode;
	for (unsigned i = 0; i < box->plan->n_events; i++)
		box->fds[i] = -1;
	for (unsigned i = 0; i < box->plan->n_events; i++) {
		bool leads = i == 0 || is_single(mode);
		struct perf_event_attr attr = event_attr(box->plan, i, leads && box_is_pinned(box));
		int fd =
			box->perf->open(box->perf, &attr, box->plan->cpu, leads ? -1 : box->fds[0]);

		if (fd < 0) {
			box_close(box);
			return fd;
		}
		box->fds[i] = fd;
		box->events[i].id = box->perf->id(box->perf, fd);
	}
	return 0;
}

/* EINVAL: no groups, or too few counters; EBUSY: other users hold some. */
static bool another_mode_may_work(int error)
{
	return error == -EINVAL || error == -EBUSY;
}

static bool may_be(const struct box *box, enum box_mode mode)
{
	if (mode == BOX_PINNED_SINGLES && box->plan->n_events == 1)
		return false;
	return !box->waits || mode == BOX_FLEXIBLE || mode == BOX_SINGLES;
}

static int open_in_some_mode(struct box *box)
{
	static const enum box_mode modes[] = { BOX_PINNED, BOX_PINNED_SINGLES, BOX_FLEXIBLE,
		BOX_SINGLES };
	int first_error = 0;

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		int r;

		if (!may_be(box, modes[i]))
			continue;
		r = open_as(box, modes[i]);
		if (r >= 0)
			r = take_baseline(box);
		if (r >= 0)
			return 0;
		box_close(box);
		if (!first_error)
			first_error = r;
		if (!another_mode_may_work(r))
			break;
	}
	return first_error;
}

static void set_plan(struct box *box, const struct plan_box *plan, const struct perf *perf)
{
	box->plan = plan;
	box->perf = perf;
	for (unsigned i = 0; i < plan->n_events; i++)
		box->clock_ms[i] = plan->events[i].clock_ms;
}

int box_open(struct box *box, const struct plan_box *plan, const struct perf *perf)
{
	set_plan(box, plan, perf);
	box->read_ns = 0;
	box->error = open_in_some_mode(box);
	box->quality = box->error < 0 ? PAGE_PARTIAL : 0;
	return box->error;
}

int box_reopen(struct box *box, const struct plan_box *plan, const struct perf *perf)
{
	box->reopened = true;
	return box_open(box, plan, perf);
}

/* Do the events still count? If in doubt, true: the next sweep reads them again. */
static bool still_counts(const struct box *box, uint64_t now_ns)
{
	for (unsigned i = 0; i < box->plan->n_events; i += events_per_group(box)) {
		struct group_read group;
		int r = read_group(box, i, &group);

		if (r < 0 && r != -EBUSY)
			return false;
		if (r == 0 && group.enabled_ns == box->events[i].enabled_ns &&
			now_ns - box->read_ns >= FROZEN_AFTER_NS)
			return false;
	}
	return true;
}

int box_adopt(struct box *box, const struct plan_box *plan, const struct perf *perf,
	const int fds[], uint64_t now_ns)
{
	set_plan(box, plan, perf);
	memcpy(box->fds, fds, plan->n_events * sizeof *fds);
	if ((box->waits && box_is_pinned(box)) || !still_counts(box, now_ns)) {
		box_close(box);
		return -ESTALE;
	}
	box->error = 0; /* an error that persists shows again at the next read */
	return 0;
}

void box_leave_closed(
	struct box *box, const struct plan_box *plan, const struct perf *perf, int error)
{
	set_plan(box, plan, perf);
	box->mode = BOX_CLOSED;
	box->error = error;
	box->quality = PAGE_PARTIAL;
}

void box_save(const struct box *box, struct box_record *ret)
{
	ret->mode = box->mode;
	ret->error = box->error;
	ret->quality = box->quality;
	ret->reopened = box->reopened;
	ret->read_ns = box->read_ns;
	memcpy(ret->events, box->events, box->plan->n_events * sizeof *box->events);
}

void box_restore(struct box *box, const struct box_record *record)
{
	box->mode = record->mode > BOX_PINNED_SINGLES ? BOX_CLOSED : record->mode;
	box->error = record->error;
	box->quality = record->quality;
	box->reopened = record->reopened;
	box->read_ns = record->read_ns;
	memcpy(box->events, record->events, sizeof box->events);
}

static bool never_ran(const struct group_read *group)
{
	return group->enabled_ns && !group->running_ns;
}

/*
 * Has the group not been on the PMU since the baseline? A running_ns above 0 does not prove that it
 * has: the leader may run alone until the other events are opened.
 */
static bool never_ran_whole(const struct box *box, const struct group_read *group)
{
	return group->enabled_ns > box->events[0].enabled_ns &&
	       group->running_ns == box->events[0].running_ns;
}

int box_settle(struct box *box)
{
	struct group_read group;

	if (box->mode != BOX_FLEXIBLE || box->plan->n_events == 1 ||
		read_group(box, 0, &group) < 0 || !never_ran_whole(box, &group))
		return 0;
	box_close(box);
	box->error = open_as(box, BOX_SINGLES);
	if (box->error >= 0)
		box->error = take_baseline(box);
	if (box->error < 0) {
		box->quality = PAGE_PARTIAL;
		box_close(box);
		return box->error;
	}
	return 1;
}

static uint64_t scale(uint64_t count, uint64_t enabled_ns, uint64_t running_ns)
{
	return (uint64_t)((unsigned __int128)count * enabled_ns / running_ns);
}

/* Adds the counts of one event since its last read; returns its passing flags. */
static uint32_t box_advance(struct box_event *event, const struct group_read *group, uint64_t raw)
{
	uint64_t enabled_ns = group->enabled_ns - event->enabled_ns;
	uint64_t running_ns = group->running_ns - event->running_ns;
	uint64_t counted = raw - event->raw;
	uint32_t quality = 0;

	/* If a hardware counter restarts at 0, a kernel that counts from the event's opening
	 * reports a negative difference. */
	if ((int64_t)counted < 0) {
		quality |= PAGE_RESET; /* counts before the reset are lost: nothing to add */
		counted = 0;
	} else if (running_ns < enabled_ns) {
		quality |= PAGE_ESTIMATED;
		if (running_ns == 0)
			return quality; /* off the PMU: the next read scales over this time too */
		counted = scale(counted, enabled_ns, running_ns);
	}
	event->count += counted;
	event->raw = raw;
	event->enabled_ns = group->enabled_ns;
	event->running_ns = group->running_ns;
	return quality;
}

static bool clock_stands(
	struct box_event *event, uint64_t count_before, uint32_t clock_ms, uint64_t now_ns)
{
	if (event->count != count_before || !event->moved_ns)
		event->moved_ns = now_ns;
	return now_ns - event->moved_ns >= clock_ms * UINT64_C(1000000);
}

static uint32_t advance_group(
	struct box *box, unsigned first, const struct group_read *group, uint64_t now_ns)
{
	uint32_t quality = 0;

	if (group->enabled_ns == box->events[first].enabled_ns && box->read_ns &&
		now_ns - box->read_ns >= FROZEN_AFTER_NS) {
		box->stopped = true;
		quality |= PAGE_FROZEN;
	}
	for (unsigned k = 0; k < group->n_values; k++) {
		struct box_event *event = &box->events[first + k];
		uint64_t before = event->count;

		quality |= box_advance(event, group, group->values[k]);
		if (box->clock_ms[first + k] &&
			clock_stands(event, before, box->clock_ms[first + k], now_ns))
			quality |= PAGE_FROZEN;
	}
	return quality;
}

/* As read_group() for the only group of the box. False: the program could not read an event. */
static bool box_take_reading(const struct box *box, struct group_read *ret)
{
	const struct box_reading *leader = box->reading;
	bool is_whole = !leader->error;

	*ret = (struct group_read){ box->plan->n_events, leader->enabled_ns, leader->running_ns,
		{ leader->count } };
	for (unsigned i = 1; i < ret->n_values; i++) {
		int64_t count = box->other_counts[i - 1];

		is_whole &= count >= 0 || count < -ERRNO_MAX;
		ret->values[i] = (uint64_t)count;
	}
	return is_whole;
}

/* *@taken: is there a snapshot? Afterwards: did the box take its part? */
static int box_read_all(struct box *box, bool *taken, uint64_t now_ns)
{
	uint32_t quality = box->reopened ? PAGE_RESET : 0;
	bool incomplete = false;

	for (unsigned i = 0; i < box->plan->n_events; i += events_per_group(box)) {
		struct group_read group;
		int r;

		*taken = *taken && box->reading && box_take_reading(box, &group);
		r = *taken ? 0 : read_group(box, i, &group);
		if (r < 0)
			return r;
		quality |= advance_group(box, i, &group, now_ns);
		incomplete |= never_ran(&group);
	}
	box->quality = quality;
	box->reopened = false;
	box->read_ns = now_ns;
	return incomplete ? -ENODATA : 0; /* a count of 0 would not be a measured value */
}

bool box_read(struct box *box, bool taken, uint64_t now_ns)
{
	if (box->mode == BOX_CLOSED)
		return false;
	box->stopped = false;
	box->error = box_read_all(box, &taken, now_ns);
	if (box->error == -ENODATA)
		box->quality |= PAGE_PARTIAL;
	else if (box->error < 0)
		box->quality = PAGE_PARTIAL;
	box->stopped |= box->error == -ENODEV;
	for (unsigned i = 0; box->error == -EBUSY && i < box->plan->n_events;
		i += events_per_group(box))
		box->perf->enable(box->perf, box->fds[i]); /* for the next sweep */
	return taken;
}

const char *box_mode_name(enum box_mode mode)
{
	static const char *const names[] = {
		[BOX_CLOSED] = "closed",
		[BOX_PINNED] = "pinned",
		[BOX_FLEXIBLE] = "flexible",
		[BOX_SINGLES] = "single events",
		[BOX_PINNED_SINGLES] = "pinned single events",
	};

	return names[mode];
}
