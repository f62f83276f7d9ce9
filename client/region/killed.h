/* SPDX-License-Identifier: BSD-3-Clause */
/* What the record of a team lacks whose processes were killed, so that none of them reported. */
#pragma once

#include "client/region/table.h"
#include "client/report/record.h"

/* If so, says it in the warning of @record, which has the team's members already. */
void killed_warn(const struct table *table, struct record *record);
