/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes what can be compared from two documents: outputs of stat, or reports. */
#pragma once

#include "client/ratio/judge.h"
#include "client/records/json.h"

/* The document in the file @path, which is made plain; *@ret owns it. NULL, after a sentence of
 * @command. */
const struct json_value *pairs_read(const char *command, char *path, struct json_document *ret);

/* Fills in names, sides and .why, of metric after metric, and region after region. */
void pairs_take(const struct json_value *a, const struct json_value *b, struct compare *ret);

/* Adds the runs of @more, another output of stat, to those of B. */
void pairs_add(struct compare *all, const struct json_value *a, const struct json_value *more);

void pairs_done(struct compare *all);
