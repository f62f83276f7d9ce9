/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells the service manager that uncored is alive, as WatchdogSec= of its unit asks. A main thread
 * that hangs says nothing, and a main thread that finds a reader hanging keeps silent on purpose.
 * The manager then kills the process and starts another, which goes on with the same totals.
 */
#pragma once

#include <stdint.h>
#include <systemd/sd-event.h>

#include "daemon/read/reader.h"

struct watchdog {
	const struct reader *readers; /* borrowed */
	unsigned n_readers;
	uint64_t interval_us; /* how long the manager waits for a sign of life; 0: it does not */
};

/*
 * Begins to ping, twice in the interval of $WATCHDOG_USEC; without that variable @event gets no
 * timer. The watchdog must live as long as @event. Errors of sd_event_add_time_relative(3).
 */
int watchdog_start(struct watchdog *watchdog, sd_event *event, const struct reader readers[],
	unsigned n_readers);

/* A reader that is busy with one thing for longer than this hangs. */
uint64_t watchdog_limit_ns(const struct watchdog *watchdog);

/* The first reader that hangs, or NULL. Takes no lock. */
const struct reader *watchdog_find_hanging(const struct watchdog *watchdog, uint64_t now_ns);
