/* SPDX-License-Identifier: BSD-3-Clause */
/* A warning for the record of a team if all its processes were killed, so that none reported. */
#pragma once

#include "client/region/table.h"
#include "client/report/record.h"

/* If so, adds a sentence to the warning of @record, which has the team's members already. */
void killed_warn(const struct table *table, struct record *record);
