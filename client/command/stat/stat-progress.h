/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "client/command/stat/stat-run.h"

/*
 * Between two runs of a command: prints a line for a person who waits, if stderr is a
 * terminal, at most every few seconds.
 */
void stat_tell_progress(struct stat_run *run);
