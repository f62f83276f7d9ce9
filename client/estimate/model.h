/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model of one series (a metric on a socket): a copy of its sums, the columns that have data,
 * scaled, and what fits them. A set of blocks is a mask.
 */
#pragma once

#include "client/estimate/separate.h"

enum {
	MODEL_CROWD = SUMS_COLUMNS,
	MODEL_COLUMNS,
	MODEL_GRAM = MODEL_COLUMNS * (MODEL_COLUMNS + 1) / 2,
};

/* The sums of one block with the crowd as one more column. */
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
	uint32_t usable; /* blocks */
	uint32_t n_spoilt;
	struct sums_header header;
	struct model_block blocks[ESTIMATE_BLOCKS];

	/* The columns of the estimate, and behind them perhaps that of the crowd, to test with. */
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
	double rows, dt_s, bytes, squares, residual, wall_squares;

	/* of the set that was pooled last */
	struct symmetric gram;
	double products[MODEL_COLUMNS];
	struct factor factor;
};

/* @model is zero. Errors as estimate_solve(). */
int model_make(const struct estimate *estimate, uint32_t index, struct model *model);

/*
 * Scaled coefficients of all columns by least squares on the blocks @mask: the free ones together,
 * each other one as if it alone were let in. 0; -EBADMSG.
 */
int model_fit(struct model *model, uint32_t mask, double *ret);
