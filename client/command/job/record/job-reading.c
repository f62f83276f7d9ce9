/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/record/job-reading.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/reader/renew.h"
#include "common/clock.h"

static const uint64_t LEAST_NS = 1000000; /* a call is never given less */

/* A daemon that is being replaced takes about as long to come back. */
static const struct timespec COMES_BACK = { .tv_nsec = 5000000 };

void job_reading_done(struct job_reading *reading)
{
	free(reading->samples);
	uncore_close(reading->handle);
	reading->samples = NULL;
	reading->handle = NULL;
}

static uint64_t rest_ns(uint64_t deadline_ns)
{
	uint64_t now_ns = clock_now_ns();

	return now_ns + LEAST_NS < deadline_ns ? deadline_ns - now_ns : LEAST_NS;
}

static int say(struct job_reading *reading, int error)
{
	snprintf(reading->why, sizeof reading->why, "%s",
		error == -ENOMEM ? "There was no memory for a reading." : uncore_error_text());
	return error;
}

static int say_held_back(struct job_reading *reading, uint64_t within_ns)
{
	snprintf(reading->why, sizeof reading->why,
		"The site lets uncored read a socket every %.3g s at most (min_interval_ms of "
		"uncored.conf), and no reading was due within %.3g s.",
		(double)reading->daemon.min_interval_ns / 1e9, (double)within_ns / 1e9);
	return -ETIMEDOUT;
}

static int read_sockets(
	const struct job_reading_wish *wish, uint64_t within_ns, struct job_reading *reading)
{
	const uint32_t n = reading->machine.n_sockets;
	int r;

	uncore_set_timeout(reading->handle, rest_ns(wish->deadline_ns));
	r = uncore_read_all(reading->handle, UNCORE_FRESH, reading->samples, n);
	if (r != -ETIMEDOUT || reading->daemon.min_interval_ns <= within_ns)
		return r < 0 ? say(reading, r) : 0;
	if (!wish->may_be_older)
		return say_held_back(reading, within_ns);
	r = uncore_read_all(reading->handle, UNCORE_CACHED, reading->samples, n);
	return r < 0 ? say_held_back(reading, within_ns) : 0;
}

static int take(const struct job_reading_wish *wish, struct job_reading *reading)
{
	const uint64_t within_ns = rest_ns(wish->deadline_ns);
	int r = uncore_open_within(wish->socket_path, within_ns, &reading->handle);

	if (r < 0)
		return say(reading, r);
	reading->is_reached = true;
	uncore_describe(reading->handle, &reading->machine);
	uncore_describe_daemon(reading->handle, &reading->daemon);
	reading->samples = calloc(reading->machine.n_sockets, sizeof *reading->samples);
	if (!reading->samples)
		return say(reading, -ENOMEM);
	for (uint32_t i = 0; i < reading->machine.n_sockets; i++)
		reading->samples[i].size = sizeof *reading->samples;
	return read_sockets(wish, within_ns, reading);
}

/* A change of owner, or the end of a daemon, may fall into the reading; the next one is right. */
void job_reading_take(const struct job_reading_wish *wish, struct job_reading *ret)
{
	int r;

	for (;;) {
		*ret = (struct job_reading){
			.machine = UNCORE_MACHINE_INIT,
			.daemon = UNCORE_DAEMON_INIT,
		};
		r = take(wish, ret);
		if (r == 0)
			return;
		job_reading_done(ret);
		if ((!renew_may_help(r) && r != -ECONNRESET) ||
			clock_now_ns() + LEAST_NS > wish->deadline_ns)
			return;
		nanosleep(&COMES_BACK, NULL);
	}
}
