/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmda/view.h"

#include <errno.h>
#include <pcp/pmapi.h>
#include <string.h>

#include "common/clock.h"

/*
 * On a virtual machine that loses a third of its CPU time to the host, an answer of uncored may
 * come tens of milliseconds late, and is worth waiting for. An uncored that hangs looks the same,
 * so only one fetch in ten seconds waits this long in vain. Copying a half-written cell may take
 * another 50 ms.
 */
static const uint64_t PATIENT_NS = 500000000, IMPATIENT_NS = 45000000;
static const uint64_t PATIENT_EVERY_NS = 10000000000;
/* Inside pmcd a fetch that waits delays every client of every agent. */
static const uint64_t BRIEF_NS = 30000000;
/* If the site delays reads for longer than this, a fetch does not wait: it takes the last sweep. */
static const uint64_t HELD_NS = 35000000;
/* One late reading costs little; an uncored that stays silent is asked less and less often. */
static const uint64_t RETRY_LEAST_NS = 125000000, RETRY_MOST_NS = 1000000000;
static const uint64_t TELL_EVERY_NS = 60000000000;

static uint64_t patience_ns(const struct view *view)
{
	bool patient = !view->waited_ns || view->now_ns - view->waited_ns >= PATIENT_EVERY_NS;

	if (view->is_brief)
		return BRIEF_NS;
	return patient ? PATIENT_NS : IMPATIENT_NS;
}

/* --- there or away; the log is told of changes, once a minute at most --- */

static uint64_t pause_ns(unsigned n_failures)
{
	return n_failures < 3 ? RETRY_LEAST_NS << n_failures : RETRY_MOST_NS;
}

static bool away(struct view *view, const char *reason)
{
	uint64_t now_ns = clock_now_ns();

	if (!view->reason[0] && (!view->told_ns || now_ns - view->told_ns >= TELL_EVERY_NS)) {
		pmNotifyErr(LOG_WARNING, "uncored is away, its metrics have no values: %s", reason);
		view->told_ns = now_ns;
		view->told = true;
	}
	snprintf(view->reason, sizeof view->reason, "%s", reason);
	view->retry_ns = now_ns + pause_ns(view->n_failures++);
	if (now_ns - view->now_ns > IMPATIENT_NS)
		view->waited_ns = now_ns;
	return false;
}

static bool there(struct view *view)
{
	if (view->reason[0] && view->told)
		pmNotifyErr(LOG_INFO, "uncored is back");
	view->told = false;
	view->reason[0] = '\0';
	view->n_failures = 0;
	return true;
}

/* --- the snapshot --- */

static int view_take(struct view *view, bool with_channels)
{
	const struct reader_wish wish = {
		.use = READER_GAUGE,
		.channels = with_channels,
		.deadline_ns = view->now_ns + patience_ns(view),
		.patience_ns = HELD_NS,
	};
	int r = reader_take(&view->reader, &wish, &view->readout);

	if (r == -ESTALE) { /* a reading of a new generation is a reading, too */
		reader_close(&view->reader);
		r = reader_take(&view->reader, &wish, &view->readout);
	}
	view->daemon.size = sizeof view->daemon;
	return r < 0 ? r : uncore_describe_daemon(view->reader.handle, &view->daemon);
}

static bool try_snapshot(struct view *view, bool with_channels)
{
	int r = view_take(view, with_channels);

	return r < 0 ? away(view, reader_failure(r)) : there(view);
}

void view_done(struct view *view)
{
	reader_close(&view->reader);
	readout_done(&view->readout);
	*view = (struct view){ 0 };
}

int view_find(const struct view *view, const char *name, const char *unit)
{
	const struct uncore *handle = view->reader.handle;
	int index = uncore_find_metric(handle, name);

	return index < 0 || strcmp(uncore_metric_unit(handle, (uint32_t)index), unit) ? -1 : index;
}

enum admission view_admits(const struct view *view, const struct uncore_user *user)
{
	int r = view->is_current ? uncore_admits(view->reader.handle, user) : -EAGAIN;

	if (r == -EACCES)
		return REFUSED;
	return r >= 0 ? ADMITTED : UNDECIDED;
}

uint64_t view_age_ns(const struct view *view)
{
	return clock_now_ns() - view->now_ns;
}

bool view_refresh(struct view *view, bool with_channels)
{
	view->now_ns = clock_now_ns();
	view->is_current = view->now_ns >= view->retry_ns && try_snapshot(view, with_channels);
	view->has_channels = view->is_current && with_channels;
	view->now_ns = clock_now_ns();
	view->epoch_ns = (int64_t)(clock_wall_ns() - view->now_ns);
	return view->is_current;
}
