/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of a run, up to its end or up to now, as a record. Either it has figures for all of
 * that time, or its failure says why it has none. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/jobstore/folder.h"
#include "client/launcher/launch.h"
#include "client/reader/reader.h"
#include "client/report/record.h"

/* A reading of all sockets, within a time that suits a batch system. */
struct job_reading {
	bool is_reached;      /* uncored answers */
	struct reader reader; /* not connected: .why says why there is no reading */
	struct uncore_daemon daemon;
	struct readout readout;
	char why[RUN_WHY_MAX];
};

/* Gives a reading, or else the sentence .why. @socket_path: as for uncore_open(). */
void job_reading_take(const char *socket_path, enum reader_use use, uint64_t deadline_ns,
	struct job_reading *ret);
void job_reading_done(struct job_reading *reading);

/* When a run ended, and how. */
struct job_end {
	int64_t real_ns;  /* CLOCK_REALTIME; 0: not known, or it goes on */
	uint64_t ns;      /* CLOCK_MONOTONIC; 0: not known */
	const char *exit; /* plain text; NULL: not known */
};

struct job_view {
	const struct run *run;
	const struct folder_runs *runs; /* of its folder */
	const struct job_reading *reading;
	struct job_end end;
};

/* *@ret is for record_done() in any case. 0; -ENOMEM. */
int job_record(const struct job_view *view, struct record *ret);

/* As text for free(3), without figures, whatever the readings are. 0; -ENOMEM. */
int job_record_without(
	const struct run *run, const char *why, const struct job_end *end, char **ret_text);

/* This host's name in the batch system, or else its own name. */
void job_host(char ret_host[LAUNCH_HOST_MAX]);
