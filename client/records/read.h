/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads records (parse.h) from texts and files. */
#pragma once

#include "client/records/json-reader.h"
#include "client/report/record.h"

/* As record_parse(), of a record or an array of records. Adds all of them to @list, or none. Also
 * -E2BIG: there are too many. */
int record_list_parse(char *text, struct record_list *list, char ret_why[JSON_READER_WHY_MAX]);

/* --- from files --- */

/* The whole text of a file, for free(3). -EFBIG; the errors of open(2) and read(2). */
int record_read_text(const char *path, char **ret_text);
int record_read_fd(int fd, size_t most_bytes, char **ret_text);

enum {
	RECORD_JOB_MOST_BYTES = 1 << 20,    /* more than any record of a job has */
	RECORD_FILE_MOST_BYTES = 256 << 20, /* more than any file has */
};
