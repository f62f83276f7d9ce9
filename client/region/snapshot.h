/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a record of a table, while its members live or after their end. */
#pragma once

#include "client/region/table.h"
#include "client/report/record.h"

/* Fills *@ret, which must be empty. It is for record_done(), also after a failure. -ENOMEM. */
int snapshot(const struct table *table, struct record *ret);
