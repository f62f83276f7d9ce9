/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of `uncore stat`: the table here, other forms in files of their own. */
#pragma once

#include "client/command/stat/stat-run.h"

/* The interval from run->since to run->now. */
void stat_print_interval(struct stat_run *run);

/* The run as a whole. */
void stat_print_result(struct stat_run *run);

/* Puts the file of -o in its place; notes in @run if that fails, and then the old one stays. */
void stat_end_file(struct stat_run *run);

/* The page of --html, if there is one. */
void stat_print_page(struct stat_run *run);
