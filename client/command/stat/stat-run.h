/* SPDX-License-Identifier: BSD-3-Clause */
/* What `uncore stat` knows while it runs its command, once or several times; and its parts. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "client/command/frame/child.h"
#include "client/command/frame/standing.h"
#include "client/command/frame/total.h"
#include "client/command/frame/written.h"
#include "client/command/page/page.h"
#include "client/command/stat/course.h"
#include "client/command/stat/stat-options.h"
#include "client/command/stat/until.h"
#include "client/libuncore/uncore.h"
#include "client/reader/reader.h"

struct stat_run {
	struct stat_options options;
	struct child_signals signals;
	bool signals_taken;
	struct written file; /* without -o it is not open */
	FILE *out;           /* that of .file, or stderr's copy, which is owned */
	struct reader reader;
	struct readout before, now;  /* of the run */
	struct readout last;         /* the end of the interval before this one */
	const struct readout *since; /* the begin of this one: .before or .last */
	struct standing *standing;   /* owned; boxes that stood at 0 in a run */
	uint32_t n_standing;
	struct parts parts;
	struct total total;
	struct total cut;  /* the last run of several, if a signal cut it short; .runs 0: none */
	struct total idle; /* what the sockets did before the first run */
	struct until until;
	struct page page; /* .path NULL: none */
	struct course course;
	struct {
		struct written file;       /* .out NULL: none */
		bool *is_described;        /* owned; each value of each row; NULL: no row is */
		uint64_t n_runs, ahead_ns; /* CLOCK_BOOTTIME - the readings' clock */
	} trace;
	int64_t begun_s;           /* of the first run's first reading, since 1970; 0: not yet */
	uint64_t started_ns;       /* CLOCK_MONOTONIC of the same; 0: not yet */
	uint64_t progress_told_ns; /* 0: not yet */
	uint64_t number, n_warm;   /* of the run, from 1; runs that were not measured */
	uint64_t n_intervals;
	int last_failure;   /* of a reading; 0: the last one succeeded */
	char failure[1024]; /* the last sentence; "": nothing failed */
	bool failed;        /* this run has no result */
	bool unwritten;     /* not all of the output has arrived */
	bool headed;        /* the header of the CSV is written */
};

/*
 * Tells the user what failed, and keeps the text for the result. If JSON goes to stderr, only its
 * last object has the text, so that stderr stays JSON. With --anyway, a failure before anything was
 * measured is told later, together with what happens to the command.
 */
void stat_complain(struct stat_run *run, const char *text);

/* --- stat-reading.c: the connection and its readings; stat_complain() tells what fails --- */

/* Connects, makes room for readings, and chooses the metrics. 0, or the exit status. */
int stat_connect(struct stat_run *run);

/* Reads all sockets. 0, negative errno. */
int stat_read(struct stat_run *run, struct readout *ret);

void stat_disconnect(struct stat_run *run);

/* Before the first run: measures for the time of --baseline. 0, -1. */
int background_measure(struct stat_run *run);

/* Takes the reading run->before while the command waits to be let go. Without --baseline the moment
 * before the first one is measured, too. As stat_read(). */
int stat_read_first(struct stat_run *run);

/* Without --baseline: prints a line if that moment had much of the traffic of the result. */
void background_note(const struct stat_run *run);

/* --- stat-measure.c: the parts of one run, with or without a command --- */

/* The run begins with the reading run->before. */
void stat_begin(struct stat_run *run);

/* An interval has ended at @tick_ns: prints it. Returns the end of the next one. */
uint64_t stat_tick(struct stat_run *run, uint64_t tick_ns);

/* Takes the last reading of the run, and adds the run to the total; @is_cut: keeps it apart. */
void stat_take_result(struct stat_run *run, uint64_t wall_ns, bool is_cut);

/* All of a run without a command (watch.c). Returns the exit status. */
int stat_watch(struct stat_run *run);

/* Between two runs of a command (stat-progress.c): prints a line for a person who waits, if stderr
 * is a terminal, at most every few seconds. */
void stat_tell_progress(struct stat_run *run);

/* --- stat-print.c: the output, and the table --- */

/* The interval from run->since to run->now. */
void stat_print_interval(struct stat_run *run);

/* The run as a whole. */
void stat_print_result(struct stat_run *run);

/* Puts the file of -o in its place; notes in @run if that fails, and then the old one stays. */
void stat_end_file(struct stat_run *run);

/* The page of --html, if there is one. */
void stat_print_page(struct stat_run *run);

/* --- other forms; an interval ended @time_ns after the first reading --- */

/* The rates of an interval in one line of at most 80 characters, the sockets side by side, with a
 * heading before the first line, and on a terminal before further ones. With parts of sockets each
 * of them has a line. */
void columns_print(struct stat_run *run, const struct total *interval, uint64_t time_ns);

/* The parts of the sockets in the whole run. */
void columns_print_parts(const struct stat_run *run);

/* A row for each metric of each socket, and of all sockets together: uncore(1) has the columns. The
 * wall time is one of the last rows. */
void stat_csv_interval(struct stat_run *run, const struct total *interval, uint64_t time_ns);
void stat_csv_result(struct stat_run *run);

/* An object in one line for each interval; and the last object. */
void stat_json_interval(struct stat_run *run, const struct total *interval, uint64_t time_ns);
void stat_json_result(struct stat_run *run);

/* --- stat-course.c: the course of a run, for its page --- */

/* "socket 0, imc0" */
enum { STAT_COURSE_NAME_MAX = 400 };
void stat_course_name(const struct format_socket *shown, char ret_name[STAT_COURSE_NAME_MAX]);

/* Adds an interval. */
void stat_course_note(struct stat_run *run, const struct total *interval, struct course_point time);

/* Prints the course as JSON; and for a page without scripts, of metrics in bytes. */
void stat_course_json(const struct stat_run *run, FILE *out);
void stat_course_still(const struct stat_run *run, FILE *out);

/* --- stat-trace.c: the course for ui.perfetto.dev, written as it happens --- */

/* 0; -1 after a sentence. All of these do nothing without --trace. */
int stat_trace_open(struct stat_run *run);

/* A run begins with the reading run->since, and ends with it when the last interval is over. */
void stat_trace_begin(struct stat_run *run);
void stat_trace_end(struct stat_run *run);

/* The rates of an interval, in CLOCK_MONOTONIC of the node. */
void stat_trace_note(struct stat_run *run, const struct total *interval, struct course_point time);

/* Ends the file; notes in .unwritten if not all has arrived. */
void stat_trace_done(struct stat_run *run);
