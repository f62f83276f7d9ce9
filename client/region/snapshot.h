/* SPDX-License-Identifier: BSD-3-Clause */
/* A table as a record: while its members live, or when they have gone. */
#pragma once

#include "client/region/table.h"
#include "client/report/record.h"

/* Fills *@ret, which is empty, for record_done(), also after a failure. -ENOMEM. */
int snapshot(const struct table *table, struct record *ret);
