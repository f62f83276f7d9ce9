/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts a report in its place, and never in that of another one which somebody may still want:
 * report-head.h says which one may be replaced. Where it may not, ours gets ".2" behind its name,
 * or the next number that is free. Processes do this at once, also on several nodes with a shared
 * folder, so what decides are link(2) and rename(2), and nothing is locked.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Writes @text, a record as JSON, to @path: then *@ret_elsewhere is NULL; or to the file that it
 * names, and is the caller's. The processes of the record came at @loaded_ns or when it begins.
 * What is neither a file nor a link to one, and what /dev and /proc have links to, is written into.
 * 0, or negative errno: nothing was replaced.
 */
int report_place(const char *path, const char *text, uint64_t loaded_ns, char **ret_elsewhere);

/* Says on stderr where the report is, if not at @path. */
void report_say_where(const char *path, const char *elsewhere);

/* By one call, if the file takes all: the tables of several processes do not mix then. */
int report_write_all(int fd, const char *text, size_t size_bytes);
