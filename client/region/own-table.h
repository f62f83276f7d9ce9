/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table that a process makes itself. With UNCORE_REPORT it is a file beside the report,
 * REPORT.table-XXXXXX, so that it outlives a process that does not report; without, it is a memfd.
 * If the folder may be on a network, the file is in /dev/shm: its pages are written again and
 * again.
 *
 * Writing to a page for which the disk has no room would end the program (SIGBUS), and so would
 * reading it in /dev/shm. So room is reserved before any use: at first for what each process needs,
 * then for each member (member.c) and each region (regions.c).
 */
#pragma once

#include "client/region/table.h"

/* Returns a descriptor of the table; -1: there is no file, and the table is private. *@ret is for
 * table_unmap(); NULL: out of memory. *@ret_name is the caller's; NULL: the file has no name. */
int own_table_new(struct table **ret, char **ret_name);

bool own_table_reserve(int fd, size_t from, size_t size_bytes);

/*
 * Copies the table in a file into memory, for table_unmap(). *@ret_fd shows who is alive, and is
 * the caller's. -ENOMSG: the file is not a table, without a sentence; -EBADMSG: not one of this
 * release; -EALREADY: its processes have reported; -ENOMEM; errors of pread(2).
 */
int own_table_read(const char *path, struct table **ret, int *ret_fd);
