/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of a job, for people and for file names. */
#pragma once

#include <stdint.h>

enum { JOB_TIME_MAX = 32 }; /* bytes, with the final NUL */

/* CLOCK_REALTIME, now. */
int64_t job_time_now_ns(void);

/* "2026-11-21T22:45:01.123Z"; "" for 0, and for a time that no calendar has. */
void job_time(int64_t real_ns, char ret_text[JOB_TIME_MAX]);

/* The same without characters that are special to a shell or to scp(1): "20261121T224501.123Z". */
void job_time_in_name(int64_t real_ns, char ret_text[JOB_TIME_MAX]);

/* Reads the text of job_time() back. -EINVAL: *@ret_real_ns is untouched. */
int job_time_parse(const char *text, int64_t *ret_real_ns);
