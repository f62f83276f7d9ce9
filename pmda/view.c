/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmda/view.h"

#include <errno.h>
#include <pcp/pmapi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const uint64_t OPEN_WITHIN_NS = 35000000;
static const uint64_t READ_WITHIN_NS = 35000000;
/* One late reading costs little; an uncored that stays silent is asked ever less often. */
static const uint64_t RETRY_LEAST_NS = 125000000, RETRY_MOST_NS = 1000000000;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* --- there or away: told in the log when it changes, never at each fetch --- */

static uint64_t pause_ns(unsigned n_failures)
{
	return n_failures < 3 ? RETRY_LEAST_NS << n_failures : RETRY_MOST_NS;
}

static bool away(struct view *view, const char *reason)
{
	if (!view->reason[0])
		pmNotifyErr(LOG_WARNING, "uncored is away, its metrics have no values: %s", reason);
	snprintf(view->reason, sizeof view->reason, "%s", reason);
	view->retry_ns = clock_ns(CLOCK_MONOTONIC) + pause_ns(view->n_failures++);
	return false;
}

static bool there(struct view *view)
{
	if (view->reason[0])
		pmNotifyErr(LOG_INFO, "uncored is back");
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

/* What a snapshot of this machine needs. */
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

	if (uncore_open_within(view->socket_path, OPEN_WITHIN_NS, &view->handle) < 0)
		return away(view, uncore_error_text());
	if (uncore_set_timeout(view->handle, READ_WITHIN_NS) < 0 ||
		uncore_describe(view->handle, &machine) < 0) {
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

bool view_connect(struct view *view)
{
	if (view->handle)
		return true;
	return clock_ns(CLOCK_MONOTONIC) >= view->retry_ns && open_handle(view);
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

static int read_all(struct view *view, bool with_channels)
{
	int r = uncore_read_all(view->handle, UNCORE_FRESH, view->samples, view->machine.n_sockets);

	if (r >= 0 && with_channels)
		r = read_channels(view);
	view->daemon.size = sizeof view->daemon;
	return r < 0 ? r : uncore_describe_daemon(view->handle, &view->daemon);
}

/* Gone, withdrawn, or pmcd has forked since: another connection may well work. */
static bool is_dead(int error)
{
	return error == -ENOTCONN || error == -EACCES || error == -EINVAL;
}

static bool try_snapshot(struct view *view, bool with_channels)
{
	int r;

	if (!view_connect(view))
		return false;
	r = read_all(view, with_channels);
	if (is_dead(r)) {
		disconnect(view);
		if (!open_handle(view))
			return false;
		r = read_all(view, with_channels);
	}
	return r < 0 ? away(view, uncore_error_text()) : there(view);
}

bool view_refresh(struct view *view, bool with_channels)
{
	view->now_ns = clock_ns(CLOCK_MONOTONIC);
	view->is_current = view->now_ns >= view->retry_ns && try_snapshot(view, with_channels);
	view->has_channels = view->is_current && with_channels;
	view->now_ns = clock_ns(CLOCK_MONOTONIC);
	view->epoch_ns = (int64_t)(clock_ns(CLOCK_REALTIME) - view->now_ns);
	return view->is_current;
}
