/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of a record: ID@BEGIN.json, which root owns and the job's user may read. ID@HOST is a
 * link to that of the latest run with figures; if no run has figures, to that of the latest run.
 */
#pragma once

#include "client/jobstore/run.h"

/*
 * Writes @text, the record of @run, into the folder @to (record-folder.h), which is made if it is
 * not there. The file is whole or not there. Where it is there already, nothing is done, but a file
 * that somebody else has put there, or that was spoilt, is replaced; where another run has its
 * name, it gets the next one, ID@BEGIN.2.json and so on. Errors of record_folder_open(), open(2),
 * write(2), fsync(2), link(2) and symlink(2), with the end of a sentence in *@ret_said; on success
 * that has what the file lacks, in sentences, or "".
 */
int record_file_write(
	const char *to, const struct run *run, const char *text, char ret_said[RUN_WHY_MAX]);
