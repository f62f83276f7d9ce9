/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model of one series (a metric on a socket): a copy of its sums, the columns that have data,
 * scaled, and their fit. A mask is a set of blocks.
 */
#pragma once

#include "client/estimate/symmetric.h"

enum {
	MODEL_CROWD = SUMS_COLUMNS,
	MODEL_COLUMNS,
	MODEL_GRAM = MODEL_COLUMNS * (MODEL_COLUMNS + 1) / 2,
};

/* The sums of one block, with the crowd as an additional column. */
struct model_block {
	double rows;
	double dt_s;
	double bytes;
	double squares;
	double time_s[MODEL_COLUMNS];
	double gram[MODEL_GRAM];
	double products[MODEL_COLUMNS];
};

struct model {
	bool has_edges;  /* columns of entries and exits */
	uint32_t usable; /* blocks */
	uint32_t n_spoilt;
	struct sums_header header;
	struct model_block blocks[ESTIMATE_BLOCKS];

	/* The columns of the estimate, perhaps followed by the crowd, for its test. */
	uint32_t n;
	uint32_t n_all;
	uint8_t columns[MODEL_COLUMNS];
	double scale[MODEL_COLUMNS];
	double time_s[MODEL_COLUMNS]; /* in usable blocks */
	double spread[MODEL_COLUMNS]; /* share of the square that is not constant in time */
	struct separation separation;
	double x[MODEL_COLUMNS];     /* scaled coefficients, not negative */
	bool is_free[MODEL_COLUMNS]; /* not held at 0 */

	/* of all usable blocks */
	double rows, dt_s, bytes;

	/* of the set of blocks that was pooled last */
	struct symmetric gram;
	double products[MODEL_COLUMNS];
	struct factor factor;
};

/* @model must be all zeroes but for .has_edges. Errors as estimate_solve(). */
int model_make(const struct estimate *estimate, uint32_t index, struct model *model);

/* The squared error of @coefficients, which are scaled, in one block. Those held at 0 count as 0.
 */
double model_miss(const struct model *model, uint32_t block, const double *coefficients);

/* The squared error of a constant rate in one block. */
double model_spread(const struct model *model, uint32_t block);

/*
 * Fits scaled coefficients of all columns to the blocks @mask by least squares: the free columns
 * together, each other column as if it were let in alone. 0; -EBADMSG.
 */
int model_fit(struct model *model, uint32_t mask, double *ret);
