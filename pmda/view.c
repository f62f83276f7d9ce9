/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmda/view.h"

#include <errno.h>
#include <pcp/pmapi.h>
#include <stdlib.h>
#include <time.h>

/*
 * On a virtual machine of whose CPU time the host takes a third, an answer of uncored may come tens
 * of milliseconds late, and is worth waiting for. An uncored that hangs looks the same, so only one
 * fetch in ten seconds waits so long in vain. To copy a half-written cell may take 50 ms on top.
 */
static const uint64_t PATIENT_NS = 500000000, IMPATIENT_NS = 45000000;
static const uint64_t PATIENT_EVERY_NS = 10000000000;
/* Inside pmcd a fetch that waits holds up every client of every agent. */
static const uint64_t BRIEF_NS = 30000000;
/* Where a site holds reads back, a fetch does not wait so long: the last sweep will do. */
static const uint64_t HELD_NS = 35000000;
/* One late reading costs little; an uncored that stays silent is asked ever less often. */
static const uint64_t RETRY_LEAST_NS = 125000000, RETRY_MOST_NS = 1000000000;
static const uint64_t TELL_EVERY_NS = 60000000000;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static uint64_t patience_ns(const struct view *view)
{
	bool patient = !view->waited_ns || view->now_ns - view->waited_ns >= PATIENT_EVERY_NS;

	if (view->is_brief)
		return BRIEF_NS;
	return patient ? PATIENT_NS : IMPATIENT_NS;
}

/* The time that the snapshot has left; at least a moment. */
static uint64_t left_ns(const struct view *view)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	return view->deadline_ns > now_ns ? view->deadline_ns - now_ns : 1;
}

/* Leaves time for a reading. */
static uint64_t open_within_ns(const struct view *view)
{
	return 1 + left_ns(view) * 3 / 4;
}

static uint64_t read_within_ns(const struct view *view)
{
	uint64_t within_ns = left_ns(view);

	return view->daemon.min_interval_ns && within_ns > HELD_NS ? HELD_NS : within_ns;
}

/* --- there or away; the log is told of changes, once a minute at most --- */

static uint64_t pause_ns(unsigned n_failures)
{
	return n_failures < 3 ? RETRY_LEAST_NS << n_failures : RETRY_MOST_NS;
}

static bool away(struct view *view, const char *reason)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

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

/* --- the connection --- */

static void disconnect(struct view *view)
{
	uncore_close(view->handle);
	view->handle = NULL;
}

/* Makes room for a snapshot of this machine. */
static int make_room(struct view *view, const struct uncore_machine *machine)
{
	struct uncore_sample *samples = calloc(machine->n_sockets + 1, sizeof *samples);
	struct uncore_channel_value *channels = calloc(machine->n_channels + 1, sizeof *channels);

	if (!samples || !channels) {
		free(samples);
		free(channels);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < machine->n_sockets; i++)
		samples[i].size = sizeof samples[i];
	free(view->samples);
	free(view->channels);
	view->samples = samples;
	view->channels = channels;
	return 0;
}

static bool open_handle(struct view *view)
{
	struct uncore_machine machine = UNCORE_MACHINE_INIT;

	if (uncore_open_within(view->socket_path, open_within_ns(view), &view->handle) < 0)
		return away(view, uncore_error_text());
	if (uncore_describe(view->handle, &machine) < 0) {
		disconnect(view);
		return away(view, uncore_error_text());
	}
	if (make_room(view, &machine) < 0) {
		disconnect(view);
		return away(view, "There is no memory for a reading.");
	}
	view->machine = machine;
	snprintf(view->platform, sizeof view->platform, "%s", machine.platform);
	view->machine.platform = view->platform;
	view->n_connections++;
	return true;
}

void view_give_up(struct view *view, const char *reason)
{
	disconnect(view);
	view->is_current = view->has_channels = away(view, reason);
}

void view_done(struct view *view)
{
	disconnect(view);
	free(view->samples);
	free(view->channels);
	*view = (struct view){ 0 };
}

/* --- the snapshot --- */

/* Channels come with the sample of their own sweep, which is no older than the fresh one. */
static int read_channels(struct view *view)
{
	struct uncore_socket socket = UNCORE_SOCKET_INIT;
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < view->machine.n_sockets; i++) {
		r = uncore_describe_socket(view->handle, i, &socket);
		if (r >= 0)
			r = uncore_read_channels(view->handle, i, UNCORE_CACHED, &view->samples[i],
				&view->channels[socket.first_channel], socket.n_channels);
	}
	return r;
}

/*
 * Takes the last sweeps, where a site holds back reads for longer than pmcd can wait. The sweeps
 * are no older than the site's interval: else the read would have been answered. The ring is not in
 * vain, because its sweep is there at the next fetch.
 */
static bool take_last_sweeps(struct view *view)
{
	uint64_t hold_ns = view->daemon.min_interval_ns;

	if (!hold_ns || uncore_read_all(view->handle, UNCORE_CACHED, view->samples,
				view->machine.n_sockets) < 0)
		return false;
	for (uint32_t i = 0; i < view->machine.n_sockets; i++)
		if (view->samples[i].begin_ns + hold_ns < view->now_ns)
			return false;
	return true;
}

static int read_fresh(struct view *view)
{
	int r = uncore_set_timeout(view->handle, read_within_ns(view));

	if (r >= 0)
		r = uncore_read_all(
			view->handle, UNCORE_FRESH, view->samples, view->machine.n_sockets);
	return r == -ETIMEDOUT && take_last_sweeps(view) ? 0 : r;
}

static int read_all(struct view *view, bool with_channels)
{
	int r;

	view->daemon.size = sizeof view->daemon;
	r = uncore_describe_daemon(view->handle, &view->daemon);
	if (r >= 0)
		r = read_fresh(view);
	if (r >= 0 && with_channels)
		r = read_channels(view);
	return r < 0 ? r : uncore_describe_daemon(view->handle, &view->daemon);
}

/* Gone, withdrawn, or pmcd has forked since: another connection may well work. */
static bool is_dead(int error)
{
	return error == -ENOTCONN || error == -EACCES || error == -EINVAL;
}

static bool try_snapshot(struct view *view, bool with_channels)
{
	bool is_new = !view->handle;
	int r;

	if (is_new && !open_handle(view))
		return false;
	r = read_all(view, with_channels);
	if (is_dead(r) && !is_new) {
		disconnect(view);
		if (!open_handle(view))
			return false;
		r = read_all(view, with_channels);
	}
	return r < 0 ? away(view, uncore_error_text()) : there(view);
}

/* An older uncored does not tell its rules: everybody is admitted then, as by an older agent. */
enum admission view_admits(const struct view *view, const struct uncore_user *user)
{
	int r = view->is_current ? uncore_admits(view->handle, user) : -EAGAIN;

	if (r == -EACCES)
		return REFUSED;
	return r >= 0 || r == -EOPNOTSUPP ? ADMITTED : UNDECIDED;
}

bool view_admits_all(const struct view *view)
{
	static const struct uncore_user unknown = { UNCORE_UNKNOWN_USER, UNCORE_UNKNOWN_USER, 0,
		NULL };

	return view_admits(view, &unknown) == ADMITTED;
}

uint64_t view_age_ns(const struct view *view)
{
	return clock_ns(CLOCK_MONOTONIC) - view->now_ns;
}

bool view_refresh(struct view *view, bool with_channels)
{
	view->now_ns = clock_ns(CLOCK_MONOTONIC);
	view->deadline_ns = view->now_ns + patience_ns(view);
	view->is_current = view->now_ns >= view->retry_ns && try_snapshot(view, with_channels);
	view->has_channels = view->is_current && with_channels;
	view->now_ns = clock_ns(CLOCK_MONOTONIC);
	view->epoch_ns = (int64_t)(clock_ns(CLOCK_REALTIME) - view->now_ns);
	return view->is_current;
}
