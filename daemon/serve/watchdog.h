/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells the service manager that uncored is alive, as WatchdogSec= of its unit asks, unless a
 * reader hangs: *Watchdog* in uncored(8).
 *
 * heartbeat.h knows how long a reader is busy with one activity, or late with an answer. Nothing
 * records when a client rings. So if the main thread sees a ring that waits, it looks again after
 * the limit. The reader hangs if a ring still waits and the reader has begun no activity meanwhile.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "daemon/read/reader.h"

/* A ring that a reader has not taken. */
struct watchdog_ring {
	uint64_t since_ns; /* when the watchdog first saw it; 0: there is none */
	uint32_t n_begun;  /* heartbeat.n_begun of the reader at that time */
};

struct watchdog {
	const struct reader *readers; /* borrowed */
	unsigned n_readers;
	uint64_t interval_us; /* how long the manager waits for a sign of life; 0: for ever */
	struct watchdog_ring rings[PAGE_SOCKETS_MAX];
};

/*
 * Begins to ping, twice in the interval of $WATCHDOG_USEC, and sooner if a ring waits. Without that
 * variable @event gets no timer. The watchdog must live as long as @event. Errors of
 * sd_event_add_time_relative(3).
 */
int watchdog_start(struct watchdog *watchdog, sd_event *event, const struct reader readers[],
	unsigned n_readers);

/* A reader that is busy with one activity for longer than this hangs. */
uint64_t watchdog_limit_ns(const struct watchdog *watchdog);

struct watchdog_look {
	bool is_rung;                 /* a reader has a ring that it has not taken */
	const struct reader *hanging; /* the first reader that hangs, or NULL; only then: */
	const char *doing;            /* words that follow "it has been " */
	uint64_t busy_ns;
};

/* Looks at all readers. Takes no lock. */
struct watchdog_look watchdog_look(struct watchdog *watchdog, uint64_t now_ns);
