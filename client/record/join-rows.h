/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the regions of a total are: of each name, one for each run and for each record that is in
 * none. */
#pragma once

#include "client/record/join.h"

struct rows {
	uint32_t n_names, n_groups;
	const char **names; /* owned; borrows the names */
	uint32_t *groups;   /* owned: of each record */
	uint32_t *at;       /* owned: by name and group; 0: there is none, else one more */
};

/* Makes the regions of the total: their names, and how many sockets and parts they have. 0;
 * -ENOMEM. *@rows is empty before. */
int rows_collect(struct join *join, struct rows *rows);

/* The region of the total for region @i of record @record. */
uint32_t rows_find(const struct join *join, const struct rows *rows, uint32_t record, uint32_t i);

void rows_done(struct rows *rows);
