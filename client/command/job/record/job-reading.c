/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/record/job-reading.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "common/clock.h"

static const uint64_t LEAST_NS = 1000000; /* an attempt takes at least this long */

/* About the time until a replaced daemon is back. */
static const struct timespec COMES_BACK = { .tv_nsec = 5000000 };

void job_reading_done(struct job_reading *reading)
{
	reader_close(&reading->reader);
	readout_done(&reading->readout);
}

static int take(const struct job_reading_wish *wish, struct job_reading *reading)
{
	const struct reader_wish how = { .use = wish->use, .deadline_ns = wish->deadline_ns };
	int r = reader_open(&reading->reader, clock_left_ns(wish->deadline_ns, LEAST_NS));

	if (r < 0)
		return r;
	reading->is_reached = true;
	uncore_describe_daemon(reading->reader.handle, &reading->daemon);
	return reader_take(&reading->reader, &how, &reading->readout);
}

static void say(struct job_reading *reading, int error, uint64_t within_ns)
{
	if (error == -ETIMEDOUT && reading->daemon.min_interval_ns > within_ns)
		snprintf(reading->why, sizeof reading->why,
			"The site lets uncored read a socket every %.3g s at most (min_interval_ms "
			"of uncored.conf), and no reading was due within %.3g s.",
			(double)reading->daemon.min_interval_ns / 1e9, (double)within_ns / 1e9);
	else
		snprintf(reading->why, sizeof reading->why, "%s", reader_failure(error));
}

/* The next attempt may succeed. -ESTALE: counters that begin anew give a reading, too. */
static bool may_retry(int error)
{
	return error == -ENOTCONN || error == -EACCES || error == -ECONNRESET || error == -ESTALE;
}

/* Tries again, since the owner may change or a daemon may end during the reading. */
void job_reading_take(const struct job_reading_wish *wish, struct job_reading *ret)
{
	for (;;) {
		const uint64_t within_ns = clock_left_ns(wish->deadline_ns, LEAST_NS);
		int r;

		*ret = (struct job_reading){
			.reader.socket_path = wish->socket_path,
			.daemon = UNCORE_DAEMON_INIT,
		};
		r = take(wish, ret);
		if (r == 0)
			return;
		say(ret, r, within_ns);
		job_reading_done(ret);
		if (!may_retry(r) || clock_now_ns() + LEAST_NS > wish->deadline_ns)
			return;
		nanosleep(&COMES_BACK, NULL);
	}
}
