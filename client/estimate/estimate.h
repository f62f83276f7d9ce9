/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes of regions that are open at the same time on one socket, estimated from many readings.
 *
 * The model. Between two readings, dt apart,
 *
 *     bytes = sum over regions r of rate_r x T_r  +  rate_out x T_out  (+ rate_wall x dt)  + error
 *
 * where T_r are passage-seconds: threads x time inside r. Each thread of each member is at each
 * moment in one region, the innermost, or outside of all, so that the T of an interval add up to
 * threads x dt. Rows are weighted by 1 / (dt + t0): errors of traffic add up over time, the error
 * of the moment of reading does not. t0 is the published cost of a sweep, within which that moment
 * is not known. Intervals are at least 20 times longer, so that t0 matters only in those that are
 * cut short by a region's begin or end.
 *
 * Traffic of others (background) that is constant in time is shared out evenly over the
 * passage-seconds of an interval, those outside too, as long as the number of threads is constant:
 * a region's estimate then holds its share of the background, as its exact value does. When the
 * number varied by enough to tell, the column of the wall time takes the background up.
 *
 * The answer. Columns are scaled to length 1, and a ridge of 1e-10 keeps equal columns solvable.
 *   - A rate is not negative: non-negative least squares on the normal equations (C. L. Lawson and
 *     R. J. Hanson, Solving Least Squares Problems, 1974, chapter 23). A rate at 0 is given as an
 *     upper bound: 2 errors of the coefficient that its column would have if it could be negative.
 *   - A region is not separable when other columns inflate its variance by over 30, or when the
 *     matrix is badly conditioned in it: D. A. Belsley, E. Kuh and R. E. Welsch, Regression
 *     Diagnostics, 1980, chapter 3. Both stand on the diagonal of the inverse of the scaled matrix:
 *     over 1000 is their condition index of 30; times the share of the column's square that is not
 *     constant in time, it is the inflation. (The inflation about 0 would be over 30 for most
 *     regions of 32 ranks, whose T hardly vary, though estimates and errors are good.) Off the
 *     diagonal stand a region's partners. The sum of such a group is well known, however little
 *     each share is.
 *   - Errors come from deleting one block of time at a time (B. Efron, The Jackknife, the Bootstrap
 *     and Other Resampling Plans, 1982, chapter 3): error^2 = (g - 1) / g x sum of (rate without
 *     block j - rate)^2 over g blocks, with the rates at 0 held there. So few blocks give a t
 *     distribution: the error is stretched by 1 + 4.25/v + 16/v^2, where v + 1 is the number of
 *     blocks over which the region's time spreads (1.35 for 16 blocks), so that 4 errors are missed
 *     as rarely as those of a normal distribution, and 2 errors hold 98 % (M. Abramowitz and I. A.
 *     Stegun, Handbook of Mathematical Functions, 26.7.5). A region that was seen in fewer than 8
 *     blocks has no error.
 *   - A region is not steady when its rates in the halves of the run differ by over 3 errors and
 *     over 10 %.
 *   - Rates are not additive when all change with the load, as at a saturated controller: one more
 *     column, the square of the load, would take over 3 errors and over 3 % of the bytes (J. B.
 *     Ramsey, Tests for specification errors, J. R. Stat. Soc. B 31, 1969). A load is what the
 *     threads inside each region seemed to move in the readings before. The error of a rate knows
 *     nothing of this: the estimates of a saturated socket are off by many errors.
 *
 * The sums. They are plain memory without pointers, which may be shared: zeroes are empty sums, any
 * bytes are safe. One writer at a time adds; when it dies inside, the next one drops the block of
 * time that was written to and counts its rows as lost. A writer that was only stopped, and goes on
 * when another has taken its place, spoils blocks, which are not used. Readers copy.
 *
 * Their size: 16 blocks of 66 x 67 / 2 products of columns, and of 139 numbers for each socket and
 * metric: 0.53 MB for 2 sockets of 6 metrics, at most 5 MB. A block of time begins as 1 ms; when
 * all are filled, neighbours are merged, so that 8 to 16 hold a run of any length.
 *
 * Where sockets are read at different moments, or passages should count only on the socket where
 * they ran, keep sums of one socket for each.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	ESTIMATE_REGIONS_MAX = 64,
	/* columns of a result, after the regions */
	ESTIMATE_OUTSIDE = ESTIMATE_REGIONS_MAX,
	ESTIMATE_WALL,
	ESTIMATE_COLUMNS,

	ESTIMATE_BLOCKS = 16,
	ESTIMATE_BLOCKS_MIN = 8, /* for an error */
	ESTIMATE_GROUPS_MAX = ESTIMATE_COLUMNS / 2,
	ESTIMATE_SERIES_MAX = 256, /* sockets x metrics */
};

/* Sums, as one process sees them. */
struct estimate {
	void *memory;
	uint32_t n_sockets;
	uint32_t n_metrics;
};

/* Time of all threads inside a region during one interval. */
struct estimate_share {
	uint32_t region; /* from ESTIMATE_REGIONS_MAX on: has no column, counts as outside */
	uint64_t time_ns;
};

/* What happened between two readings. */
struct estimate_row {
	uint64_t dt_ns;
	uint64_t t0_ns; /* cost of a sweep */
	uint64_t outside_ns;
	const struct estimate_share *shares;
	uint32_t n_shares;
	uint32_t n_threads; /* of all members; 0: changed within the interval */
	/* n_sockets x n_metrics, the metrics of a socket together; NAN: absent */
	const double *bytes;
};

/* Why an interval was not added. */
enum estimate_dropped {
	ESTIMATE_DROPPED_GENERATION,
	ESTIMATE_DROPPED_DEATH,
	ESTIMATE_DROPPED_INVALID,
	ESTIMATE_DROPPED_REASONS,
};

struct estimate_counts {
	uint64_t rows;
	uint64_t dropped[ESTIMATE_DROPPED_REASONS];
	uint64_t lost;        /* rows that a writer's death spoilt */
	uint64_t beyond_rows; /* rows with regions that have no column */
	uint64_t beyond_ns;   /* time in them */
};

enum estimate_state {
	ESTIMATE_NO_DATA, /* no time */
	ESTIMATE_KNOWN,
	ESTIMATE_BOUND,        /* the rate is 0 to .rate_bound */
	ESTIMATE_NOT_SEPARABLE /* no rate: see the group */
};

/* NAN: not known. An error of NAN: seen in fewer than ESTIMATE_BLOCKS_MIN blocks of time. */
struct estimate_value {
	enum estimate_state state;
	bool not_steady;
	uint32_t group;   /* when not separable */
	double time_s;    /* passage-seconds in the blocks used; of ESTIMATE_WALL: seconds */
	double inflation; /* of the variance by other columns; about 1: none */
	double rate;      /* per passage-second */
	double rate_error;
	double rate_bound; /* when a bound; also NAN without an error */
	double bytes;      /* rate x time_s */
	double bytes_error;
	double halves[2]; /* the rate in each half of the run */
};

/* Columns that cannot be told apart. */
struct estimate_group {
	uint32_t n_columns;
	uint8_t columns[ESTIMATE_COLUMNS];
	struct estimate_value sum; /* .rate is per passage-second of all; never a bound */
};

/* Of one metric on one socket. */
struct estimate_result {
	uint32_t n_blocks; /* used */
	uint32_t n_spoilt; /* not used: a reading without this metric, or nonsense */
	double rows;
	double dt_s;
	double bytes;   /* exactly, in the blocks used */
	double miss;    /* (bytes by the estimates - bytes) / bytes */
	double r2;      /* 1: explains all; 0: no more than a constant rate in wall time does */
	double crowd;   /* share of the bytes that goes with the square of the load */
	bool has_wall;  /* the number of threads varied by enough */
	bool no_errors; /* fewer than ESTIMATE_BLOCKS_MIN blocks */
	bool not_steady;
	bool not_additive;
	uint32_t n_groups;
	struct estimate_group groups[ESTIMATE_GROUPS_MAX];
	struct estimate_value values[ESTIMATE_COLUMNS];
};

/* 0: more than ESTIMATE_SERIES_MAX, or none. */
size_t estimate_bytes(uint32_t n_sockets, uint32_t n_metrics);

/*
 * Adds one interval. Only columns that have time in it are touched: 0.6 us for 5 regions and 12
 * series, 5 us for 64 regions; at the end of a block 0.2 ms. 0; -EINVAL: no time, or nonsense: not
 * added but counted; -EBADMSG: the sums are corrupt.
 */
int estimate_add(const struct estimate *estimate, const struct estimate_row *row);

/* Counts an interval that the caller does not add. */
void estimate_drop(const struct estimate *estimate, enum estimate_dropped why);

void estimate_count(const struct estimate *estimate, struct estimate_counts *ret);

/*
 * Takes milliseconds with 64 regions, and 0.5 MB that it frees. 0; -ENODATA: nothing was added, or
 * each block is spoilt; -EAGAIN: blocks are being merged, or their writer died doing so; -EBADMSG:
 * the sums are corrupt; -ENOMEM; -EINVAL.
 */
int estimate_solve(const struct estimate *estimate, uint32_t socket, uint32_t metric,
	struct estimate_result *ret);
