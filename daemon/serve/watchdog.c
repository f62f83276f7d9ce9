/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/watchdog.h"

#include <inttypes.h>
#include <stddef.h>
#include <systemd/sd-daemon.h>

#include "common/clock.h"
#include "daemon/base/log.h"
#include "daemon/base/notify.h"

enum { PINGS_PER_INTERVAL = 2, LIMITS_PER_INTERVAL = 4, US_PER_S = 1000000, NS_PER_US = 1000 };

/* The longest work for one answer, a sweep of some hundred counters and waking as many clients,
 * takes milliseconds. A reader may also have to wait for a CPU. */
static const uint64_t LIMIT_NS = 10000000000U;

uint64_t watchdog_limit_ns(const struct watchdog *watchdog)
{
	uint64_t limit_ns = watchdog->interval_us * NS_PER_US / LIMITS_PER_INTERVAL;

	return limit_ns < LIMIT_NS ? limit_ns : LIMIT_NS;
}

static void watchdog_note_ring(
	struct watchdog_ring *ring, const struct reader *reader, uint64_t now_ns)
{
	uint32_t n_begun = heartbeat_n_begun(&reader->heartbeat);

	if (!reader_is_rung(reader))
		ring->since_ns = 0;
	else if (!ring->since_ns || ring->n_begun != n_begun)
		*ring = (struct watchdog_ring){ now_ns, n_begun };
}

/* How long the reader has been busy with one activity; 0: it sleeps, and nobody waits for it. */
static uint64_t watchdog_busy_ns(const struct watchdog_ring *ring, const struct reader *reader,
	uint64_t now_ns, const char **ret_doing)
{
	uint64_t busy_ns = heartbeat_busy_ns(&reader->heartbeat, now_ns, ret_doing);

	if (!ring->since_ns || now_ns - ring->since_ns <= busy_ns)
		return busy_ns;
	*ret_doing = "leaving a ring unanswered";
	return now_ns - ring->since_ns;
}

struct watchdog_look watchdog_look(struct watchdog *watchdog, uint64_t now_ns)
{
	struct watchdog_look look = {};

	for (unsigned i = 0; i < watchdog->n_readers; i++) {
		const struct reader *reader = &watchdog->readers[i];
		struct watchdog_ring *ring = &watchdog->rings[i];

		watchdog_note_ring(ring, reader, now_ns);
		look.is_rung |= ring->since_ns != 0;
		if (look.hanging)
			continue;
		look.busy_ns = watchdog_busy_ns(ring, reader, now_ns, &look.doing);
		if (look.busy_ns > watchdog_limit_ns(watchdog))
			look.hanging = reader;
	}
	return look;
}

static int watchdog_on_time(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct watchdog *watchdog = userdata;
	uint64_t next_us = watchdog->interval_us / PINGS_PER_INTERVAL;
	const struct watchdog_look look = watchdog_look(watchdog, clock_now_ns());

	(void)usec;
	if (look.hanging)
		log_error("The reader of socket %u hangs: it has been %s for %" PRIu64
			  " s. uncored stops telling the service manager that it is alive, so that "
			  "it is killed and started again; totals go on.",
			look.hanging->sweep.socket, look.doing,
			look.busy_ns / (US_PER_S * (uint64_t)NS_PER_US));
	else
		notify_alive();
	if (look.is_rung && !look.hanging)
		next_us = watchdog_limit_ns(watchdog) / NS_PER_US + 1;
	return sd_event_source_set_time_relative(source, next_us);
}

int watchdog_start(struct watchdog *watchdog, sd_event *event, const struct reader readers[],
	unsigned n_readers)
{
	sd_event_source *timer = NULL;
	int r;

	*watchdog = (struct watchdog){ .readers = readers, .n_readers = n_readers };
	r = sd_watchdog_enabled(0, &watchdog->interval_us);
	if (r <= 0)
		return r;
	r = sd_event_add_time_relative(event, &timer, CLOCK_MONOTONIC,
		watchdog->interval_us / PINGS_PER_INTERVAL, 0, watchdog_on_time, watchdog);
	if (r >= 0)
		r = sd_event_source_set_enabled(timer, SD_EVENT_ON);
	if (r >= 0)
		r = sd_event_source_set_floating(timer, true);
	sd_event_source_unref(timer);
	return r;
}
