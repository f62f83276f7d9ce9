/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/export/export-reading.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "client/reader/renew.h"
#include "common/clock.h"
#include "common/macro.h"

/*
 * So long a machine may be too busy to answer. Prometheus gives up a scrape after ten seconds, by
 * default. A read that the site's interval holds back may take longer, where nobody waits.
 */
static const uint64_t PATIENCE_NS = UINT64_C(5000000000);
/* So long a hurried one waits where the site holds reads back; its ring makes a sweep for the next.
 */
static const uint64_t HELD_NS = UINT64_C(1000000000);

struct attempt {
	const struct export_wish *wish;
	uint64_t begun_ns, deadline_ns;
};

static uint64_t left_ns(const struct attempt *attempt)
{
	uint64_t now_ns = clock_now_ns();

	return attempt->deadline_ns > now_ns ? attempt->deadline_ns - now_ns : 1;
}

static uint64_t epoch_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec - clock_now_ns();
}

static int fail(struct export_reading *reading, int error, const char *failure)
{
	snprintf(reading->failure, sizeof reading->failure, "%s", failure);
	return error;
}

static int connect_within(const struct attempt *attempt, struct export_reading *reading)
{
	int r = uncore_open_within(attempt->wish->socket_path, left_ns(attempt), &reading->handle);

	if (r < 0)
		return r;
	return uncore_describe(reading->handle, &reading->machine);
}

static int make_room(const struct attempt *attempt, struct export_reading *reading)
{
	uint32_t n = reading->machine.n_sockets;

	reading->samples = calloc(n + 1, sizeof *reading->samples);
	if (attempt->wish->channels)
		reading->channels =
			calloc(reading->machine.n_channels + 1, sizeof *reading->channels);
	if (!reading->samples || (attempt->wish->channels && !reading->channels))
		return fail(reading, -ENOMEM, "There is no memory for a reading.");
	for (uint32_t i = 0; i < n; i++)
		reading->samples[i].size = sizeof reading->samples[i];
	return 0;
}

/* Are the last sweeps no older than the time for which the site holds the next ones back? */
static bool take_last_sweeps(const struct attempt *attempt, const struct export_reading *reading)
{
	uint64_t hold_ns = reading->daemon.min_interval_ns;

	if (!hold_ns || uncore_read_all(reading->handle, UNCORE_CACHED, reading->samples,
				reading->machine.n_sockets) < 0)
		return false;
	for (uint32_t i = 0; i < reading->machine.n_sockets; i++)
		if (reading->samples[i].begin_ns + hold_ns < attempt->begun_ns)
			return false;
	return true;
}

static int read_fresh(const struct export_reading *reading)
{
	return uncore_read_all(
		reading->handle, UNCORE_FRESH, reading->samples, reading->machine.n_sockets);
}

static int read_patiently(const struct attempt *attempt, const struct export_reading *reading)
{
	int r;

	do
		r = read_fresh(reading);
	while (r == -ETIMEDOUT && clock_now_ns() < attempt->deadline_ns);
	return r;
}

static int read_hurriedly(const struct attempt *attempt, const struct export_reading *reading)
{
	int r = -ETIMEDOUT;

	if (reading->daemon.min_interval_ns) {
		uncore_set_timeout(reading->handle, HELD_NS);
		r = read_fresh(reading);
		if (r == -ETIMEDOUT && take_last_sweeps(attempt, reading))
			return 0;
	}
	if (r != -ETIMEDOUT)
		return r;
	uncore_set_timeout(reading->handle, left_ns(attempt));
	return read_fresh(reading);
}

/* The sweep that has just been taken, or a later one: a sample and its channels are of one sweep.
 */
static int read_channels(struct export_reading *reading)
{
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < reading->machine.n_sockets; i++) {
		struct uncore_socket socket = UNCORE_SOCKET_INIT;

		r = uncore_describe_socket(reading->handle, i, &socket);
		if (r == 0)
			r = uncore_read_channels(reading->handle, i, UNCORE_CACHED,
				&reading->samples[i], &reading->channels[socket.first_channel],
				socket.n_channels);
	}
	return r < 0 ? r : 0;
}

static int read_all(const struct attempt *attempt, struct export_reading *reading)
{
	int r = uncore_describe_daemon(reading->handle, &reading->daemon);

	if (r == 0)
		r = attempt->wish->hurried ? read_hurriedly(attempt, reading)
					   : read_patiently(attempt, reading);
	if (r == 0 && reading->channels)
		r = read_channels(reading);
	if (r == 0)
		r = uncore_describe_daemon(reading->handle, &reading->daemon);
	reading->epoch_ns = epoch_ns();
	return r;
}

/* It is taken after the reading, which succeeds without it. */
static void take_report(const struct attempt *attempt, struct export_reading *reading)
{
	if (attempt->wish->report && uncore_info(attempt->wish->socket_path, &reading->report) < 0)
		fail(reading, 0, uncore_error_text());
}

static int try_once(const struct attempt *attempt, struct export_reading *reading)
{
	int r;

	*reading = (struct export_reading){ .machine = UNCORE_MACHINE_INIT,
		.daemon = UNCORE_DAEMON_INIT };
	r = connect_within(attempt, reading);
	if (r == 0)
		r = make_room(attempt, reading);
	if (r == 0)
		r = read_all(attempt, reading);
	if (r == 0)
		take_report(attempt, reading);
	return r;
}

void export_reading_take(const struct export_wish *wish, struct export_reading *ret)
{
	struct attempt attempt = { .wish = wish,
		.begun_ns = clock_now_ns(),
		.deadline_ns = clock_deadline_ns(PATIENCE_NS) };
	int r = try_once(&attempt, ret);

	if (ret->handle && renew_may_help(r)) {
		export_reading_done(ret);
		r = try_once(&attempt, ret);
	}
	ret->error = r;
	if (r < 0 && !*ret->failure)
		fail(ret, r, uncore_error_text());
}

void export_reading_done(struct export_reading *reading)
{
	uncore_close(reading->handle);
	free(take_ptr(reading->samples));
	free(take_ptr(reading->channels));
	free(take_ptr(reading->report));
	reading->handle = NULL;
}
