/* SPDX-License-Identifier: BSD-3-Clause */
/* What `uncore export` writes: one reading of all sockets, or why there is none. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/libuncore/uncore.h"
#include "client/reader/reader.h"

enum { EXPORT_FAILURE_MAX = 512 };

struct export_reading {
	int error;                        /* 0; else negative, and only .failure is valid */
	char failure[EXPORT_FAILURE_MAX]; /* a sentence: why there is no reading, or no .report */
	struct reader reader;             /* connected */
	struct uncore_daemon daemon;
	struct readout readout;
	uint64_t epoch_ns; /* this plus CLOCK_MONOTONIC is the time since 1970 */
	char *report;      /* of uncored, JSON; NULL: none, or not wanted. Owned. */
};

struct export_wish {
	const char *socket_path;
	bool channels, report;
	bool difference; /* two readings are subtracted, so each needs fresh sweeps */
	/* A client waits, and goes away after some seconds. If the site's interval would hold a
	 * fresh reading back for longer, the last sweeps are used. They are at most one interval
	 * old. */
	bool hurried;
};

/* Takes a reading over a connection of its own. */
void export_reading_take(const struct export_wish *wish, struct export_reading *ret);
void export_reading_done(struct export_reading *reading);
