/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of a record: ID@BEGIN.json in a folder where each user may open his own, and list
 * nothing. ID@HOST is a link to that of the latest run with figures; if no run has figures, to that
 * of the latest run.
 */
#pragma once

#include "client/jobs/run.h"

/*
 * Writes @text, the record of @run, into @folder, which is made if it is not there. The file is
 * whole or not there. Where it is there already, nothing is done; where another run has its name,
 * it gets the next one, ID@BEGIN.2.json and so on. Errors of open(2), write(2), fsync(2), chown(2),
 * link(2) and symlink(2).
 */
int record_file_write(const char *folder, const struct run *run, const char *text);
