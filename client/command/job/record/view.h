/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of a run, up to its end or up to now. Either the figures are complete, or a
 * sentence says why there are none. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/command/frame/total.h"
#include "client/jobstore/folder.h"
#include "client/launcher/launch.h"
#include "client/reader/reader.h"

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

struct jsonwriter;

struct job_view {
	const struct run *run;
	const struct folder_runs *runs;    /* of its folder */
	const struct job_reading *reading; /* NULL: there is none */
	struct job_end end;
	struct total total;    /* owned; of complete figures */
	char why[RUN_WHY_MAX]; /* "": the figures are complete */
};

/* The view is for job_view_done(), and borrows all arguments. */
void job_view_init(struct job_view *ret, const struct run *run, const struct job_reading *reading,
	const struct folder_runs *runs);

void job_view_done(struct job_view *view);

/* --- as JSON (uncore-report(5)) --- */

/* One line, without its end, for free(3). 0; -ENOMEM. */
int job_json(const struct job_view *view, char **ret_text);

/* The same without figures, whatever the readings are. @end: NULL: not known. */
int job_json_incomplete(
	const struct run *run, const char *why, const struct job_end *end, char **ret_text);

/* The members job, run and uid of a run, in an open object. */
void job_json_head(struct jsonwriter *json, const struct run_head *head);

/* This host's name in the batch system, or else its own name. */
void job_host(char ret_host[LAUNCH_HOST_MAX]);
