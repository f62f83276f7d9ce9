/* SPDX-License-Identifier: BSD-3-Clause */
/* The course of a run, for its page. */
#pragma once

#include "client/command/stat/stat-run.h"

/* "socket 0, imc0" */
enum { STAT_COURSE_NAME_MAX = 400 };
void stat_course_name(const struct format_socket *shown, char ret_name[STAT_COURSE_NAME_MAX]);

/* Adds an interval. */
void stat_course_note(struct stat_run *run, const struct total *interval, struct course_point time);

/* Prints the course as JSON. */
void stat_course_json(const struct stat_run *run, FILE *out);

/* The same for a page without scripts: of metrics in bytes. */
void stat_course_still(const struct stat_run *run, FILE *out);
