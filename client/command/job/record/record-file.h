/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of a record: ID@BEGIN.json, which root owns and the job's user may read. ID@HOST is a
 * link to the file of the latest run with figures or, if no run has figures, of the latest run.
 */
#pragma once

#include "client/jobstore/run.h"

/*
 * Writes @text, the record of @run, into the folder @to (record-folder.h), and makes the folder if
 * it is missing. The file is whole or not there. If the record is already there, nothing is done. A
 * file that somebody else put there, or that is damaged, is replaced. If another run has the name,
 * the file gets the next name, ID@BEGIN.2.json and so on. Errors of record_folder_open(), open(2),
 * write(2), fsync(2), link(2) and symlink(2), with the end of a sentence in *@ret_said. On success,
 * *@ret_said tells in sentences what the file lacks, or is "".
 */
int record_file_write(
	const char *to, const struct run *run, const char *text, char ret_said[RUN_WHY_MAX]);
