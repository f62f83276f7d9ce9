/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection of `uncore stat` and its readings. stat_complain() tells what fails. */
#pragma once

#include "client/command/stat/stat-run.h"

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
