/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values derived from the counts of a region, each with a bound of its error. libuncore(3) has the
 * formulas and their sources.
 *
 * For steady traffic a socket's count is uncertain by the fraction skew/window, and by the rounding
 * of the site. The bound of a sum is the sum of the bounds. The bound of a ratio is its worst case.
 */
#pragma once

#include "client/report/record.h"

/* The unit of work for bytes that the code stored. */
#define DERIVED_STORED "bytes stored"

struct derived {
	double value;     /* NAN: not known, .why says why */
	double error;     /* bound, in the unit of the value; NAN: not known */
	uint32_t quality; /* the flags of all counts that it depends on */
	const char *why;  /* lives as long as the record; NULL where the value is known */
};

static inline bool derived_is_known(const struct derived *derived)
{
	return !derived->why;
}

/* Is @metric a transfer of memory ("dram.read", "hbm.write", ... in bytes)? */
bool derived_is_memory(const struct record *record, uint32_t metric);

/* The index of the metric of this name; UINT32_MAX: the record has none. */
uint32_t derived_find(const struct record *record, const char *metric);

/* The bound of a count's error, in the unit of the count: the moments of the readings and the
 * rounding of the site are to blame. NAN: not known. */
double derived_bound(const struct record_socket *socket, const struct record_value *value);

/* The bound, and the rate per ns with its bound, of a count; infinite without a window. */
struct record_sum derived_socket(const struct record_socket *socket, uint32_t metric);

/* The count on all sockets. */
struct derived derived_total(const struct record_region *region, uint32_t metric);

/* The same per ns in which the region was open: the sum of the sockets' rates. */
struct derived derived_rate(const struct record_region *region, uint32_t metric);

/* How much of the count on all sockets is the region's own: at least what moved while it was alone,
 * at most all that moved while it was open. */
struct derived_bracket {
	bool is_known;
	bool has_hole; /* there is more than .all, because part of its time is not measured */
	double alone, all;
};

struct derived_bracket derived_bracket(const struct record_region *region, uint32_t metric);

/* Do the two differ by more than 2 %? */
bool derived_is_wide(const struct derived_bracket *bracket);

/* Of all memory: writes, and reads and writes. Metrics that no socket has are left out. */
struct derived derived_writes(const struct record *record, const struct record_region *region);
struct derived derived_volume(const struct record *record, const struct record_region *region);

/* @total for each passage with figures. Passages that ended by death count as parts of one. */
struct derived derived_per_passage(const struct record_region *region, struct derived total);

/* @total for each unit of @work. */
struct derived derived_per_work(const struct record_work *work, struct derived total);

/* @total / what is predicted for @work. */
struct derived derived_of_predicted(const struct record_work *work, struct derived total);

/* Reads / writes; bytes moved / bytes stored; specitom / writes. */
struct derived derived_read_write(const struct record *record, const struct record_region *region);
struct derived derived_store_ratio(const struct record *record, const struct record_region *region);
struct derived derived_evaded(const struct record *record, const struct record_region *region);

/* The work with the unit DERIVED_STORED; NULL: none. */
const struct record_work *derived_stored(const struct record_region *region);

/* The time that all calls of begin and end took. Calls that were not timed count with the mean of
 * the timed ones. NAN: none was timed. */
double derived_cost_ns(const struct record *record);

/* The mean of the sockets' windows, which differ by the length of a sweep at most. */
uint64_t derived_window_ns(const struct record_region *region);

/* The largest bound of a memory metric's count, as a share of it; NAN: there is none. */
double derived_worst_error(const struct record *record, const struct record_region *region);
