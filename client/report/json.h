/* SPDX-License-Identifier: BSD-3-Clause */
/* A record as JSON, as uncore-report(5) describes it. parse.h reads it back. */
#pragma once

#include "client/report/record.h"

struct jsonwriter;

enum {
	RECORD_TIME_MAX = 32
}; /* bytes of "2026-11-23T05:45:00.123Z", with the final NUL, and more */

/* *@ret_text is the caller's, and has no final newline. 0; -ENOMEM. */
int record_json(const struct record *record, char **ret_text);

/* The same as a member of another document; @key as in jsonwriter.h. */
void record_json_member(struct jsonwriter *json, const char *key, const struct record *record);

/* The members that tell several regions of a name apart. */
void record_json_tags(struct jsonwriter *json, const struct record_region *region);

/* The member "misses" of an open object, if somebody asked for it. */
void record_json_misses(struct jsonwriter *json, const struct record_misses *misses);

/* ISO 8601, in UTC; "" for 0 and for times that no calendar has. */
void record_time(int64_t seconds, char ret_text[RECORD_TIME_MAX]);

/* "2026-11-21T22:45:01.123Z". */
void record_time_ms(int64_t real_ns, char ret_text[RECORD_TIME_MAX]);

/* The same without characters that are special to a shell or to scp(1), as files are named:
 * "20261121T224501.123Z"; "0". */
void record_time_in_name(int64_t real_ns, char ret_text[RECORD_TIME_MAX]);

/* As record_time_ms(), as a member; null for "". */
void record_json_time(struct jsonwriter *json, const char *key, int64_t real_ns);
