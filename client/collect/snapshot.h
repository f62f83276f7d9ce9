/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a record of a table, while its members live or after their end. */
#pragma once

#include "client/libuncore/team-call.h"
#include "client/region/table.h"
#include "client/report/record.h"

/* Parts of it: the members; what the cells of a region say, for a record that has them; and then
 * what threads missed there. 0; -ENOMEM. */
int snapshot_members(const struct table *table, struct record *ret);
int snapshot_cells(const struct table *table, unsigned index, const struct record *record,
	struct record_region *ret);
int snapshot_misses(const struct table *table, unsigned index, struct record_region *ret);

/* Fills *@ret, which must be empty. It is for record_done(), also after a failure. -ENOMEM. */
int snapshot(const struct table *table, struct record *ret);

/* Adds a sentence on teams of this user that ran beside that of @kept. */
void snapshot_warn_of_others(const struct team_table *kept, struct record *record);

/* If all processes of the team were killed, so that none reported, adds that to the warning of
 * @record, which has the team's members already. */
void killed_warn(const struct table *table, struct record *record);
