/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts a report in its place, and never replaces another report that may still be needed: see
 * report-head.h. If the place is taken, the report gets ".2" after its name, or the next free
 * number. Processes do this at the same time, also on several nodes with a shared folder. So
 * link(2) and rename(2) decide, without a lock.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Writes @text, a record as JSON, to @path, and sets *@ret_elsewhere to NULL. If another report
 * keeps @path, writes to another file, and *@ret_elsewhere is its name, owned by the caller. The
 * processes of the record began at @loaded_ns or at its begin, whichever is earlier. If @path is
 * not a file or a link to one, or is a link in /dev or /proc, writes into it. 0, or negative errno:
 * nothing was replaced.
 */
int report_place(const char *path, const char *text, uint64_t loaded_ns, char **ret_elsewhere);

/* Says on stderr where the report is, unless it is at @path. */
void report_say_where(const char *path, const char *elsewhere);

/* A hidden name in the folder of @path, for a file that is on its way there. It does not end in
 * .json or .prom, so no program takes it for a file of that kind. The caller's, for free(3); NULL:
 * out of memory. */
char *report_name_beside(const char *path);

/* Opens a new file of such a name for writing. *@ret_name is the caller's, for free(3), and NULL if
 * there is none. -ENOMEM; errors of open(2). */
int report_open_beside(const char *path, char **ret_name);

/* Writes the whole text, with one call if the file takes it, so that tables of several processes do
 * not mix. */
int report_write_all(int fd, const char *text, size_t size_bytes);
