/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Estimates the bytes of regions that are open at the same time on one socket, from many readings.
 *
 * The model. Between two readings, dt apart,
 *
 *     bytes = sum over regions r of (rate_r x T_r  [+ a_r x entries_r + b_r x exits_r])
 *             + rate_out x T_out  (+ rate_wall x dt)  + error
 *
 * where T_r are passage-seconds: threads x time inside r. At each moment each thread of each member
 * is in one region, the innermost, or outside of all. So the T of an interval add up to threads x
 * dt. Rows are weighted by 1 / (dt + t0): errors of traffic add up over time, the error in the
 * moment of a reading does not. t0 is the published cost of a sweep, within which that moment is
 * not known. Intervals are at least 20 times longer than t0, so t0 matters only in those that the
 * begin or end of a region cuts short.
 *
 * Two models are fitted: with the time alone, and with entries and exits, which take up what a
 * passage moves at its begin and end. The one that predicts each block better from all others is
 * used. Unless it is better by 3 standard errors, the distance to the other one is an error of the
 * model.
 *
 * Traffic while threads are outside may be theirs, or a background that is constant in time. With a
 * constant number of threads nothing tells which, because the T add up to threads x dt. So an
 * estimate takes half of a region's share of it, and the other half is an error of the model. If
 * the number of threads varied enough, the column of the wall time takes the background up.
 *
 * The solution. Columns are scaled to length 1, and a ridge of 1e-10 keeps equal columns solvable.
 *   - A rate is not negative: non-negative least squares on the normal equations (C. L. Lawson and
 *     R. J. Hanson, Solving Least Squares Problems, 1974, chapter 23). A rate at 0 is given as an
 *     upper bound: 2 errors of the coefficient that its column would have if it could be negative.
 *   - A region is not separable if other columns inflate its variance by over 30, or if the matrix
 *     is badly conditioned in it: D. A. Belsley, E. Kuh and R. E. Welsch, Regression Diagnostics,
 *     1980, chapter 3. The diagonal of the inverse of the scaled matrix shows both. An element over
 *     1000 is their condition index of 30. Times the share of the column's square that is not
 *     constant in time, the element is the inflation. (The inflation about 0 would be over 30 for
 *     most regions of 32 ranks, whose T hardly vary, though estimates and errors are good.) The
 *     elements off the diagonal show a region's partners.
 *   - Errors come from the jackknife, which deletes one block of time at a time (B. Efron, The
 *     Jackknife, the Bootstrap and Other Resampling Plans, 1982, chapter 3): error^2 = (g - 1) / g
 *     x sum of (rate without block j - rate)^2 over g blocks, with the rates at 0 held there. With
 *     few blocks the distribution is a t distribution. So the error is stretched by 1 + 4.25/v +
 *     16/v^2, where v + 1 is the number of blocks over which the region's time spreads (1.35 for 16
 *     blocks). Then 4 errors are exceeded as rarely as those of a normal distribution, and 2 errors
 *     hold 98 % (M. Abramowitz and I. A. Stegun, Handbook of Mathematical Functions, 26.7.5). A
 *     region with time in fewer than 8 blocks has no error.
 *   - A region is not steady if its rates in the halves of the run differ by over 3 errors and over
 *     10 %.
 *   - Rates are not additive if all change with the load, as at a saturated controller. The error
 *     of a rate does not include that, and it often hides in the noise. So a doubt is enough: rates
 *     are additive only if they explain 98 % of the variance, and if one more column, the square of
 *     the load, takes away 3 % of the bytes at most, with 2 errors (J. B. Ramsey, Tests for
 *     specification errors, J. R. Stat. Soc. B 31, 1969). The load is what the threads inside each
 *     region seemed to move in earlier readings. The medians of what each block says are used, so
 *     that a machine that stood still for a moment raises no doubt. What passages move at their
 *     begin and end does not depend on the load: if it is 70 % of the bytes, there is no test.
 *
 * The sums are plain memory without pointers, which may be shared. Zeroes are empty sums, and any
 * bytes are safe. One writer at a time adds. If it dies meanwhile, the next writer drops the block
 * of time that was being written and counts its rows as lost. A writer that was only stopped may go
 * on after another has taken its place: it spoils blocks, and these are not used. Readers copy the
 * sums.
 *
 * Their size: 16 blocks of 130 x 131 / 2 products of columns, and of 267 numbers for each socket
 * and metric: 1.6 MB for 2 sockets of 6 metrics, at most 10 MB. A block of time begins as 1 ms.
 * When all are filled, neighbours are merged, so that 8 to 16 blocks hold a run of any length.
 *
 * Use separate sums for each socket if the sockets are read at different moments, or if passages
 * should count only on the socket where they ran.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	ESTIMATE_REGIONS_MAX = 64,
	ESTIMATE_EDGES_MAX = 32, /* regions with columns of entries and exits */
	/* columns, after the times of the regions */
	ESTIMATE_ENTRIES = ESTIMATE_REGIONS_MAX,
	ESTIMATE_EXITS = ESTIMATE_ENTRIES + ESTIMATE_EDGES_MAX,
	ESTIMATE_OUTSIDE = ESTIMATE_EXITS + ESTIMATE_EDGES_MAX,
	ESTIMATE_WALL,
	ESTIMATE_COLUMNS,

	ESTIMATE_BLOCKS = 16,
	ESTIMATE_BLOCKS_MIN = 8,   /* for an error */
	ESTIMATE_SERIES_MAX = 256, /* sockets x metrics */
};

/* A process's view of the sums. */
struct estimate {
	void *memory;
	uint32_t n_sockets;
	uint32_t n_metrics;
};

/* All threads inside one region during one interval. */
struct estimate_share {
	uint32_t region; /* at least ESTIMATE_REGIONS_MAX: no column, counts as outside */
	uint64_t time_ns;
	uint32_t n_entries, n_exits;
};

/* What happened between two readings. */
struct estimate_row {
	uint64_t dt_ns;
	uint64_t t0_ns; /* cost of a sweep */
	uint64_t outside_ns;
	const struct estimate_share *shares;
	uint32_t n_shares;
	uint32_t n_threads; /* of all members; 0: the number changed within the interval */
	/* n_sockets x n_metrics, the metrics of a socket together; NAN: absent */
	const double *bytes;
};

enum estimate_state {
	ESTIMATE_NO_DATA, /* no time */
	ESTIMATE_KNOWN,
	ESTIMATE_BOUND,        /* the rate is between 0 and 2 .rate_error */
	ESTIMATE_NOT_SEPARABLE /* no rate: another region has the same time, or nearly */
};

/* NAN: not known. An error is NAN if fewer than ESTIMATE_BLOCKS_MIN blocks have time. */
struct estimate_value {
	enum estimate_state state;
	bool not_steady;
	double time_s; /* passage-seconds in the blocks used; of ESTIMATE_WALL: seconds */
	double rate;   /* per passage-second */
	double rate_error;
	double bytes; /* rate x time_s, and what its entries and exits moved */
	double bytes_error;
	double model_error; /* what another model would say otherwise */
	double halves[2];   /* the rate in each half of the run */
};

/* Of one metric on one socket. */
struct estimate_result {
	uint32_t n_blocks; /* used */
	uint32_t n_spoilt; /* not used: a reading lacks this metric, or numbers are out of range */
	double rows;
	double dt_s;
	double bytes; /* measured, in the blocks used */
	double r2;    /* 1: explains all; 0: no better than a constant rate in wall time */
	double crowd; /* share of the bytes that follows the square of the load */
	double crowd_error;
	bool has_edges; /* the model with entries and exits was better */
	bool has_wall;  /* the number of threads varied enough */
	bool not_steady;
	bool is_additive; /* proved: what each region moves does not depend on the others */
	struct estimate_value values[ESTIMATE_COLUMNS];
};

/* The region that a column belongs to; ESTIMATE_OUTSIDE and ESTIMATE_WALL are their own. */
static inline uint32_t estimate_region_of(uint32_t column)
{
	if (column >= ESTIMATE_OUTSIDE)
		return column;
	if (column >= ESTIMATE_EXITS)
		return column - ESTIMATE_EXITS;
	return column >= ESTIMATE_ENTRIES ? column - ESTIMATE_ENTRIES : column;
}

/* The size of the sums. 0: there are over ESTIMATE_SERIES_MAX series, or none. */
size_t estimate_bytes(uint32_t n_sockets, uint32_t n_metrics);

/*
 * Adds one interval. It touches only columns that have time in it: 0.6 us for 5 regions and 12
 * series, 5 us for 64 regions; 0.2 ms at the end of a block. 0; -EINVAL: no time, or values out of
 * range; -EBADMSG: the sums are corrupt.
 */
int estimate_add(const struct estimate *estimate, const struct estimate_row *row);

/*
 * Solves for the rates. Takes 10 ms with 5 regions, and 5 MB, which it frees. 0;
 * -ENODATA: nothing was added, or every block is spoilt; -EAGAIN: blocks are being merged, or their
 * writer died doing so; -EBADMSG: the sums are corrupt; -ENOMEM; -EINVAL.
 */
int estimate_solve(const struct estimate *estimate, uint32_t socket, uint32_t metric,
	struct estimate_result *ret);

/* The same with the model of @like, for a part of what @like is the sum of. */
int estimate_solve_like(const struct estimate *estimate, uint32_t socket, uint32_t metric,
	const struct estimate_result *like, struct estimate_result *ret);
