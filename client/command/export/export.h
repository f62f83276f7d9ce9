/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of `uncore export`: its command line, readings, and what it makes of them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "client/libuncore/uncore.h"
#include "client/reader/reader.h"

enum { EXPORT_FAILURE_MAX = 512 };

/* One reading of all sockets, or why there is none. */
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

struct export_options {
	struct export_wish wish;
	const char *output_path; /* NULL: stdout */
	uint64_t every_s;        /* 0: once */
	bool http;
	bool clustercockpit;
};

/* Writes a reading, or that there is none, as text for Prometheus. uncore-export(1) lists the
 * metrics. */
void export_prometheus(FILE *out, const struct export_reading *reading);

/*
 * Writes the bandwidths between two readings in InfluxDB's line protocol, as ClusterCockpit
 * understands it: uncore-export(1). Comments say what is missing and why.
 */
void export_clustercockpit(
	FILE *out, const struct export_reading *before, const struct export_reading *now);

/*
 * Answers requests for the metrics and returns the exit status. A service manager passes either
 * listening sockets (as sd_listen_fds(3) says, or one as standard input) or a single connection.
 * Clients that are slow, send anything or go away are not a failure.
 */
int export_http(const struct export_wish *wish);
