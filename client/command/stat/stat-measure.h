/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of one run of `uncore stat`, with or without a command. */
#pragma once

#include "client/command/stat/stat-run.h"

/* The run begins with the reading run->before. */
void stat_begin(struct stat_run *run);

/* An interval has ended at @tick_ns: prints it. Returns the end of the next one. */
uint64_t stat_tick(struct stat_run *run, uint64_t tick_ns);

/* All of a run without a command. Returns the exit status. */
int stat_watch(struct stat_run *run);

/* Takes the last reading of the run, and adds the run to the total; @is_cut: keeps it apart. */
void stat_take_result(struct stat_run *run, uint64_t wall_ns, bool is_cut);
