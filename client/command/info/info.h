/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of `uncore info`, and the command lines of it and of `uncore owner`. What a daemon of
 * another release does not send is left out.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/records/json.h"
#include "common/process-age.h"

struct info_options {
	const char *socket_path;
	const char *metric; /* to explain; NULL: none */
	bool json, platforms, clients, quiet, verbose;
};

struct owner_options {
	const char *socket_path;
	const char *user; /* NULL: only show it */
	bool none;
};

/* Prints the head and the summary of @info, an object as `uncore info --json` prints it, and all of
 * it if @verbose. */
void state_print(const struct json_value *info, const char *socket_path, bool verbose);

/* What a person wants to know first: a few lines on whether uncored works, on what, what is missing
 * and who may read; where a socket has several NUMA nodes, on their channels, too. */
void summary_print(const struct json_value *info, const char *socket_path);

/* Prints the NUMA nodes of sockets that have several, and what their channels have counted. */
struct reader;
void nodes_print(const struct json_value *info, const struct reader *reader);

/* A line for each counter box that stands at 0 while its sisters count: standing.h. */
struct uncore;
void standing_print(const struct uncore *handle);

/* Prints how this machine computes @metric, from the daemon's state @info. False: it has no such
 * metric. */
bool explain_metric(const struct json_value *info, const char *metric);

/* @list: the JSON of uncore_platforms(). */
void explain_platforms(const struct json_value *list);

/* `uncore info --clients`: who the clients of uncored are, and what they cost. Returns the exit
 * status. */
int clients_show(const char *socket_path, bool json);

/*
 * The name, as plain text, of the process that had the PID @pid when it connected, @connected_ns
 * ago (0: the PID is not known). If that process has ended or is not visible from here, words in
 * brackets say so, since another process may have its PID by now.
 */
void client_process_name(uint64_t pid, uint64_t connected_ns, char ret[PROCESS_NAME_MAX]);

/*
 * Counter boxes, all boxes of one kind in one line: "uncore_imc_0..11 on CPU 0: dram.read 0xf04".
 * @boxes is the array of one socket, or NULL. Of @metric, if it is not NULL, only the events that
 * count it, with the name that each was found by: "0xf04 (sysfs:cas_count_read)".
 */
void boxes_print(const struct json_value *boxes, uint64_t socket, const char *metric);

/* --- the quality of a metric, in words --- */

/* Room for all flags and the longest reason of the daemon. */
enum { QUALITY_TEXT_MAX = 512, QUALITY_METRIC_MAX = 2 * QUALITY_TEXT_MAX };

/* "standin, partial (5 of 6 boxes: ...)"; "good" if no flag is raised. @state is the daemon's
 * object for a socket. What does not fit is cut. */
void quality_format(const struct json_value *state, char ret_text[QUALITY_TEXT_MAX]);

/* What there is to say of all sockets of @metric, an object of the daemon's report: one text if
 * they agree, else one for each. With @doubts without a check that agrees. */
void quality_describe(const struct json_value *metric, bool doubts, char ret[QUALITY_METRIC_MAX]);

/* If the platform of the daemon's report does not count memory traffic of this machine, prints
 * lines that say what it counts. */
void quality_print_warnings(const struct json_value *info);
