/* SPDX-License-Identifier: BSD-3-Clause */
/* A record as JSON, as uncore-report(5) describes it. parse.h reads it back. */
#pragma once

#include "client/report/record.h"

struct jsonwriter;

/* *@ret_text is the caller's, and has no final newline. A short record is one line. 0; -ENOMEM. */
int record_json(const struct record *record, char **ret_text);

/* The same as a member of another document; @key as in jsonwriter.h. */
void record_json_member(struct jsonwriter *json, const char *key, const struct record *record);

/* The members that tell several regions of a name apart. */
void record_json_tags(struct jsonwriter *json, const struct record_region *region);

/* The member "misses" of an open object, if somebody asked for it. */
void record_json_misses(struct jsonwriter *json, const struct record_misses *misses);
