/* SPDX-License-Identifier: BSD-3-Clause */
/* What a record says, and how readings change it. Nothing here is shared: callers bring copies. */
#pragma once

#include "client/region/reading.h"
#include "client/region/table.h"

/* Copies a record to or from a table: as much of it as has a meaning. */
void sums_copy(struct table_record *to, const struct table_record *from);

/* A stretch begins: its first reading; NULL: it is not measured, and others stand for it. */
void sums_open(struct table_record *record, const struct reading *reading);

/* As sums_add(), and the stretch is over. */
int sums_close(struct table_record *record, const struct reading *reading, bool is_shared);

/*
 * Adds what moved since the last reading. @is_shared: other regions were open, too. -ESTALE:
 * uncored has counted anew since, and what moved is not known; @reading is the last one then.
 */
int sums_add(struct table_record *record, const struct reading *reading, bool is_shared);

/* What moved from the last reading to @now_ns is not known. */
void sums_lose(struct table_record *record, uint64_t now_ns);
