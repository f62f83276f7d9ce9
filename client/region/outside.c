/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/outside.h"

#include <math.h>
#include <string.h>

enum { LEAST = 8 }; /* times of a kind, or pieces, for a figure */

static const uint64_t PIECE_NS = 200000; /* of pauses */

/* A bound from pauses that are much shorter than the time that it bounds would be a guess. */
enum { TIME_RATIO_MOST = 10 };

#define LOAD(field)        __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define ADD(field, amount) __atomic_store_n(&(field), (field) + (amount), __ATOMIC_RELAXED)

/* --- adding --- */

/* A figure that is not known, because a value was absent, stays so. */
static double moved_of(
	const struct table_outside *outside, const struct readout *readout, uint32_t s, uint32_t m)
{
	const struct uncore_sample *sample = &readout->samples[s];
	const struct uncore_value *value = &sample->values[m];
	const uint64_t before = outside->sockets[s].counts[m];

	if (value->quality & UNCORE_ABSENT || value->count < before || !sample->sweep)
		return NAN;
	return (double)(value->count - before);
}

/* Others may make a report meanwhile. */
static void store(double *number, double value)
{
	__atomic_store(number, &value, __ATOMIC_RELAXED);
}

static void raise(double *most, double value)
{
	if (!(value <= *most) && !isnan(*most))
		store(most, value);
}

static void end_piece(struct table_times *times)
{
	for (uint32_t s = 0; s < PAGE_SOCKETS_MAX; s++)
		for (uint32_t m = 0; m < UNCORE_METRICS_MAX; m++) {
			raise(&times->series[s][m].most,
				times->series[s][m].piece / (double)times->piece_ns);
			times->series[s][m].piece = 0;
		}
	times->piece_ns = 0;
	ADD(times->n_pieces, 1);
}

static void add_value(struct table_series *series, bool is_gap, double moved, uint64_t time_ns)
{
	store(&series->bytes, series->bytes + moved);
	store(&series->squares, series->squares + moved * moved / (is_gap ? 1 : (double)time_ns));
	if (is_gap)
		raise(&series->most, moved);
	else
		series->piece += moved;
}

static void add(struct table_outside *outside, const struct readout *readout, enum table_kind kind)
{
	struct table_times *times = &outside->kinds[kind];
	const uint64_t time_ns = reading_middle_ns(&readout->samples[0]) - outside->at_ns;

	for (uint32_t s = 0; s < readout->n_sockets && s < PAGE_SOCKETS_MAX; s++)
		for (uint32_t m = 0; m < readout->samples[s].n_values && m < UNCORE_METRICS_MAX;
			m++)
			add_value(&times->series[s][m], kind == TABLE_GAP,
				moved_of(outside, readout, s, m), time_ns);
	ADD(times->n, 1);
	ADD(times->time_ns, time_ns);
	times->piece_ns += time_ns;
	if (kind == TABLE_CALL || (kind == TABLE_PAUSE && times->piece_ns >= PIECE_NS))
		end_piece(times);
}

/* Was no region open since the reading that was kept? */
static bool was_empty(const struct table *table, const struct reading *reading)
{
	const struct table_outside *outside = &table->outside;
	const struct uncore_sample *first = &reading->readout.samples[0];

	return outside->at_ns && outside->entered != ALONE_NOT &&
	       reading_middle_ns(first) > outside->at_ns &&
	       memcmp(outside->generation, first->generation, sizeof first->generation) == 0 &&
	       alone_count_others(table, ALONE_OUTSIDE) == outside->entered;
}

static void keep(struct table_outside *outside, const struct reading *reading)
{
	const struct readout *readout = &reading->readout;

	outside->entered = reading->look.is_empty ? reading->look.entered : ALONE_NOT;
	outside->at_ns = reading_middle_ns(&readout->samples[0]);
	outside->was_call = reading->is_again;
	memcpy(outside->generation, readout->samples[0].generation, sizeof outside->generation);
	for (uint32_t s = 0; s < readout->n_sockets && s < PAGE_SOCKETS_MAX; s++)
		for (uint32_t m = 0; m < UNCORE_METRICS_MAX; m++)
			outside->sockets[s].counts[m] = readout->samples[s].values[m].count;
}

void outside_note(struct table *table, const struct reading *reading)
{
	struct table_outside *outside = &table->outside;
	enum table_kind kind = outside->was_call ? TABLE_GAP : TABLE_PAUSE;

	if (reading->is_again)
		kind = TABLE_CALL;
	if (was_empty(table, reading))
		add(outside, &reading->readout, kind);
	if (reading_middle_ns(&reading->readout.samples[0]) > outside->at_ns)
		keep(outside, reading);
}

/* --- figures --- */

/* A copy of what is known of one kind. */
struct known {
	double n, time_ns, n_pieces;
	double bytes, squares, most;
};

static double load(const double *number)
{
	double value;

	__atomic_load(number, &value, __ATOMIC_RELAXED);
	return value;
}

static struct known known_of(
	const struct table *table, enum table_kind kind, uint32_t socket, uint32_t metric)
{
	const struct table_times *times = &table->outside.kinds[kind];
	const struct table_series *series = &times->series[socket][metric];

	return (struct known){
		.n = (double)LOAD(times->n),
		.time_ns = (double)LOAD(times->time_ns),
		.n_pieces = (double)LOAD(times->n_pieces),
		.bytes = load(&series->bytes),
		.squares = load(&series->squares),
		.most = load(&series->most),
	};
}

/* Calls tell best what others move; a program whose regions are long has none. */
static struct known others_of(const struct table *table, uint32_t socket, uint32_t metric)
{
	const struct known calls = known_of(table, TABLE_CALL, socket, metric);

	return calls.n >= LEAST ? calls : known_of(table, TABLE_PAUSE, socket, metric);
}

/* The bytes of others vary in proportion to the time: their variance per time is that of the
 * times that were seen. Those of a gap vary from gap to gap. */
double outside_usual(const struct table *table, uint32_t socket, uint32_t metric,
	struct outside_time gaps, double *ret_error)
{
	const struct known others = others_of(table, socket, metric);
	const struct known gap = known_of(table, TABLE_GAP, socket, metric);
	const double time_ns = (double)gaps.time_ns, n = (double)gaps.n_gaps;
	double rate, rate_variance, each, variance;

	if (others.n < LEAST || gap.n < LEAST)
		return NAN;
	rate = others.bytes / others.time_ns;
	rate_variance =
		fmax(others.squares - others.bytes * rate, 0) / (others.n - 1) / others.time_ns;
	each = fmax(0, (gap.bytes - rate * gap.time_ns) / gap.n);
	variance = fmax(gap.squares - gap.bytes * gap.bytes / gap.n, 0) / (gap.n - 1);
	/* At its ends, a window may have a gap more or less. */
	*ret_error = sqrt(variance * n * (1 + n / gap.n) + each * each * (double)gaps.n_windows +
			  rate_variance * (time_ns * time_ns + others.time_ns * time_ns));
	return rate * time_ns + each * n;
}

double outside_most(
	const struct table *table, uint32_t socket, uint32_t metric, struct outside_time time)
{
	const struct known calls = known_of(table, TABLE_CALL, socket, metric);
	const struct known pauses = known_of(table, TABLE_PAUSE, socket, metric);
	const struct known gap = known_of(table, TABLE_GAP, socket, metric);
	const double time_ns = (double)time.time_ns, n = (double)time.n_gaps;

	if (time.n_gaps && gap.n < LEAST)
		return NAN;
	/* One gap more or less at the first window, and at the last one. */
	if (calls.n_pieces >= LEAST)
		return calls.most * time_ns + (n > 0 ? gap.most * (n + 2) : 0);
	if (time.n_gaps || pauses.n_pieces < LEAST || pauses.time_ns < time_ns / TIME_RATIO_MOST)
		return NAN;
	return pauses.most * time_ns;
}
