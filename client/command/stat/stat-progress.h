/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "client/command/stat/stat-run.h"

/*
 * Between two runs of `uncore stat --until`: a line for a person who waits, if stderr is a
 * terminal, every few seconds at most.
 */
void stat_tell_progress(struct stat_run *run);
