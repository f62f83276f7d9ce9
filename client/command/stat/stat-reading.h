/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection of `uncore stat` and its readings. stat_complain() tells what fails. */
#pragma once

#include "client/command/stat/stat-run.h"

/* Connects and makes room for readings. 0, -1. */
int stat_connect(struct stat_run *run);

/* Reads all sockets. 0, negative errno. */
int stat_read(struct stat_run *run, struct readout *ret);

/* When a reading was complete. */
uint64_t stat_reading_ns(const struct readout *readout);

void stat_disconnect(struct stat_run *run);
