/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names of jobs and of their runs. An ID becomes a file name, so it is 1 to 64 letters, digits,
 * and "._+-", and does not begin with ".". The KEY of a run distinguishes runs of one ID.
 */
#pragma once

#include <stdbool.h>

enum {
	JOB_ID_BYTES = 65,  /* with the final NUL */
	JOB_KEY_BYTES = 65, /* ... */
};

bool job_id_is_valid(const char *id);

/* 1 to 64 bytes of plain text. */
bool job_key_is_valid(const char *key);
