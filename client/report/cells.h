/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of each column of the table, for a region. */
#pragma once

#include "client/report/column.h"

/* The region's name, in quotes if it has blanks; never a control character. */
column_cell cells_name;

column_cell cells_passages, cells_each, cells_window, cells_metric, cells_rate, cells_per_work,
	cells_store_ratio, cells_shared, cells_others, cells_estimate, cells_split, cells_bound;
