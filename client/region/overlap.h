/* SPDX-License-Identifier: BSD-3-Clause */
/* Estimates of the traffic of overlapping regions, for a record. */
#pragma once

#include "client/region/table.h"
#include "client/report/record.h"

/* Fills in the estimates of the regions of @record that overlapped with others. 0; -ENOMEM. */
int overlap_estimate(const struct table *table, struct record *record);
