/* SPDX-License-Identifier: BSD-3-Clause */
/* The contents of a record, and how readings change them. Nothing here is shared: callers pass
 * copies. */
#pragma once

#include "client/region/reading.h"
#include "client/region/table.h"

/* Copies the used part of a record to or from a table. */
void sums_copy(struct table_record *to, const struct table_record *from);

/* A stretch begins with @reading. NULL: it is not measured; measured stretches stand for it. */
void sums_open(struct table_record *record, const struct reading *reading);

/* As sums_add(), and ends the stretch. */
int sums_close(struct table_record *record, const struct reading *reading, bool is_shared);

/*
 * Adds what moved since the last reading. @is_shared: other regions were open, too. -ESTALE:
 * uncored began to count anew, so what moved is not known. @reading becomes the last one even then.
 */
int sums_add(struct table_record *record, const struct reading *reading, bool is_shared);

/* The traffic from the last reading to @now_ns is lost. */
void sums_lose(struct table_record *record, uint64_t now_ns);
