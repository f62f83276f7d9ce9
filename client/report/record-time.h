/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of the wall clock as text. */
#pragma once

#include <stdint.h>

struct jsonwriter;

enum {
	RECORD_TIME_MAX = 32
}; /* bytes of "2026-11-23T05:45:00.123Z", with the final NUL, and more */

/* ISO 8601, in UTC; "" for 0 and for times that no calendar has. */
void record_time(int64_t seconds, char ret_text[RECORD_TIME_MAX]);

/* "2026-11-21T22:45:01.123Z". */
void record_time_ms(int64_t real_ns, char ret_text[RECORD_TIME_MAX]);

/* The same without characters that are special to a shell or to scp(1), as files are named:
 * "20261121T224501.123Z"; "0". */
void record_time_in_name(int64_t real_ns, char ret_text[RECORD_TIME_MAX]);

/* The members "KEY", as record_time(), "KEY_s" and "KEY_ns"; null if the time is not known. */
void record_json_time(struct jsonwriter *json, const char *key, int64_t real_ns);
