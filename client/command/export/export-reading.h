/* SPDX-License-Identifier: BSD-3-Clause */
/* What `uncore export` tells: one reading of all sockets, or why there is none. */
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
	uint64_t epoch_ns; /* adds up with CLOCK_MONOTONIC to the time since 1970 */
	char *report;      /* of uncored, JSON; NULL: there is none, or nobody wants it. Owned. */
};

struct export_wish {
	const char *socket_path;
	bool channels, report;
	bool difference; /* two readings are subtracted: the last sweeps do not do */
	/* Somebody waits, and goes away after some seconds. The last sweeps then do where the
	 * site's interval holds a fresh one back for longer; they are at most as old as that
	 * interval is long. */
	bool hurried;
};

/* Takes a reading over a connection of its own. */
void export_reading_take(const struct export_wish *wish, struct export_reading *ret);
void export_reading_done(struct export_reading *reading);
