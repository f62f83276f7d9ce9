/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds a row to the sums. One process writes at a time; it may be killed at any instruction. */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "client/estimate/sums.h"

static const double first_block_s = 1e-3;
static const double in_work_s = -1;
static const uint64_t time_max_ns = UINT64_C(1) << 56; /* two years of one thread */

static uint32_t block_doubles(const struct estimate *estimate)
{
	return (uint32_t)(sums_block_bytes(estimate) / sizeof(double));
}

/* Others may write anything at any time, so a checked value must not be read again. */
static uint32_t read_once(const uint32_t *shared)
{
	return __atomic_load_n(shared, __ATOMIC_RELAXED);
}

/* --- one writer, which may be killed at any instruction --- */

/*
 * Keeps the order of writes, for a process that finds the sums after this one has stopped. A
 * process stops between two instructions, so only the compiler could change the order.
 */
static void write_in_order(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void set_busy(const struct estimate *estimate, uint32_t busy)
{
	write_in_order();
	__atomic_store_n(&sums_header(estimate)->busy, busy, __ATOMIC_RELAXED);
	write_in_order();
}

/*
 * A block is cleared or summed up between these two calls. A writer may be stopped in between, and
 * go on after another one has filled the block anew. Then .begun_s is not as it left it.
 * close_block() makes it a value that no dt_s is equal to, so the block is spoilt.
 */
static void open_block(struct sums_block *block)
{
	block->begun_s = in_work_s;
	write_in_order();
}

static void close_block(struct sums_block *block, double begun_s)
{
	write_in_order();
	block->begun_s = block->begun_s == in_work_s ? begun_s : NAN;
}

static void clear_block(const struct estimate *estimate, struct sums_block *block)
{
	open_block(block);
	memset(block->time_s, 0, sums_block_bytes(estimate) - offsetof(struct sums_block, time_s));
	close_block(block, 0);
}

static void clear_blocks(const struct estimate *estimate, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		clear_block(estimate, sums_block(estimate, i));
}

/* Drops the block or blocks that a dead writer left half written. */
static void mend(const struct estimate *estimate)
{
	struct sums_header *header = sums_header(estimate);
	uint32_t busy = read_once(&header->busy);

	if (!busy)
		return;
	if (busy <= ESTIMATE_BLOCKS) {
		double rows = sums_block(estimate, busy - 1)->rows;

		header->lost += rows >= 0 && rows < 1e15 ? (uint64_t)rows + 1 : 1;
		clear_blocks(estimate, busy - 1, busy);
	} else {
		header->lost = header->rows;
		header->current = 0;
		clear_blocks(estimate, 0, ESTIMATE_BLOCKS);
	}
	set_busy(estimate, 0);
}

/* @to may be @first. */
static void add_blocks(const struct estimate *estimate, struct sums_block *to,
	const struct sums_block *first, const struct sums_block *second)
{
	const double begun_s = first->begun_s + second->begun_s;
	const uint32_t n = block_doubles(estimate);

	open_block(to);
	for (uint32_t i = 1; i < n; i++) /* all but begun_s */
		((double *)to)[i] = ((const double *)first)[i] + ((const double *)second)[i];
	close_block(to, begun_s);
}

/* Where rows are longer than blocks, the next blocks are as long as those that are there then. Else
 * blocks would differ more and more, and each few rows would merge all of them. */
static void merge(const struct estimate *estimate)
{
	struct sums_header *header = sums_header(estimate);
	const uint32_t n = ESTIMATE_BLOCKS / 2;
	double mean_s = 0;

	set_busy(estimate, SUMS_MERGING);
	for (uint32_t i = 0; i < n; i++) {
		add_blocks(estimate, sums_block(estimate, i), sums_block(estimate, 2 * i),
			sums_block(estimate, 2 * i + 1));
		mean_s += sums_block(estimate, i)->dt_s / n;
	}
	clear_blocks(estimate, n, ESTIMATE_BLOCKS);
	header->block_s = mean_s >= 4 * header->block_s ? mean_s : 2 * header->block_s;
	header->current = ESTIMATE_BLOCKS / 2;
	set_busy(estimate, 0);
}

/* The block for the next row. Loads are rough, and learning them reads all blocks, so that is done
 * when there are twice as many blocks. */
static uint32_t advance(const struct estimate *estimate)
{
	struct sums_header *header = sums_header(estimate);
	uint32_t current = read_once(&header->current);

	if (!(header->block_s >= first_block_s))
		header->block_s = first_block_s;
	if (current >= ESTIMATE_BLOCKS)
		return ESTIMATE_BLOCKS;
	if (sums_block(estimate, current)->dt_s < header->block_s)
		return current;
	if (current + 1 < ESTIMATE_BLOCKS)
		header->current = current + 1;
	else
		merge(estimate);
	if (!(header->current & (header->current - 1)))
		loads_learn(estimate);
	return current + 1 < ESTIMATE_BLOCKS ? current + 1 : ESTIMATE_BLOCKS / 2;
}

/* --- a row --- */

/* One row of the design matrix; only columns[] are not 0. */
struct design {
	double weight;
	double time_s[SUMS_COLUMNS];
	uint32_t n_columns;
	uint8_t columns[SUMS_COLUMNS];
};

static void put(struct design *design, uint32_t column, double time_s)
{
	if (!(time_s > 0))
		return;
	if (!(design->time_s[column] > 0))
		design->columns[design->n_columns++] = (uint8_t)column;
	design->time_s[column] += time_s;
}

static bool row_is_valid(const struct estimate *estimate, const struct estimate_row *row)
{
	uint32_t n_series = estimate->n_sockets * estimate->n_metrics;

	if (!row->dt_ns || row->dt_ns > time_max_ns || row->t0_ns > time_max_ns ||
		row->outside_ns > time_max_ns)
		return false;
	for (uint32_t i = 0; i < row->n_shares; i++)
		if (row->shares[i].time_ns > time_max_ns)
			return false;
	for (uint32_t i = 0; i < n_series; i++)
		if (row->bytes[i] < 0 || row->bytes[i] > 1e18)
			return false;
	return true;
}

static void put_edges(struct design *design, const struct estimate_share *share)
{
	if (share->region >= ESTIMATE_EDGES_MAX)
		return;
	put(design, ESTIMATE_ENTRIES + share->region, share->n_entries);
	put(design, ESTIMATE_EXITS + share->region, share->n_exits);
}

/* Time in regions that have no column is outside. */
static void design_fill(const struct estimate_row *row, struct design *ret)
{
	double dt_s = (double)row->dt_ns / 1e9;
	uint64_t beyond_ns = 0;

	for (uint32_t i = 0; i < row->n_shares; i++) {
		double time_s = (double)row->shares[i].time_ns / 1e9;

		if (row->shares[i].region < ESTIMATE_REGIONS_MAX)
			put(ret, row->shares[i].region, time_s);
		else
			beyond_ns += row->shares[i].time_ns;
		put_edges(ret, &row->shares[i]);
	}
	put(ret, ESTIMATE_OUTSIDE, ((double)row->outside_ns + (double)beyond_ns) / 1e9);
	put(ret, ESTIMATE_WALL, dt_s);
	ret->weight = 1 / (dt_s + (double)row->t0_ns / 1e9);
}

/* The load of a row. 0 while the loads are not known. */
static double load_of(const struct design *design, const struct sums_loads *loads)
{
	double load_s = 0;

	for (uint32_t i = 0; i < design->n_columns; i++) {
		uint32_t column = design->columns[i];

		if (sums_is_time(column))
			load_s += loads->loads[column] * design->time_s[column];
	}
	return load_s / design->time_s[ESTIMATE_WALL];
}

static void add_crowd(struct sums_series *series, const struct design *design,
	const struct sums_loads *loads, double bytes)
{
	double load = load_of(design, loads), dt_s = design->time_s[ESTIMATE_WALL];
	double crowd_s = (load * load - loads->square) * dt_s;
	double weighted = design->weight * crowd_s;

	series->crowd_s += load * load * dt_s;
	series->crowd[SUMS_COLUMNS] += weighted * crowd_s;
	series->crowd_product += weighted * bytes;
	for (uint32_t i = 0; i < design->n_columns; i++)
		series->crowd[design->columns[i]] += weighted * design->time_s[design->columns[i]];
}

static void add_series(struct sums_series *series, const struct design *design, double bytes)
{
	series->bytes += bytes;
	series->squares += design->weight * bytes * bytes;
	for (uint32_t i = 0; i < design->n_columns; i++) {
		uint32_t column = design->columns[i];

		series->products[column] += design->weight * design->time_s[column] * bytes;
	}
}

static void add_columns(struct sums_block *block, const struct design *design)
{
	block->begun_s += design->time_s[ESTIMATE_WALL];
	write_in_order();
	for (uint32_t i = 0; i < design->n_columns; i++) {
		uint32_t a = design->columns[i];
		double weighted = design->weight * design->time_s[a];

		block->time_s[a] += design->time_s[a];
		for (uint32_t k = 0; k <= i; k++) {
			uint32_t b = design->columns[k];

			block->gram[sums_at(a, b)] += weighted * design->time_s[b];
		}
	}
	block->rows++;
	write_in_order();
	block->dt_s += design->time_s[ESTIMATE_WALL];
}

static void count_row(const struct estimate *estimate, const struct estimate_row *row)
{
	struct sums_header *header = sums_header(estimate);

	header->rows++;
	if (!row->n_threads)
		return;
	if (!header->n_threads_least || row->n_threads < header->n_threads_least)
		header->n_threads_least = row->n_threads;
	if (row->n_threads > header->n_threads_most)
		header->n_threads_most = row->n_threads;
}

int estimate_add(const struct estimate *estimate, const struct estimate_row *row)
{
	uint32_t n_series = estimate->n_sockets * estimate->n_metrics, index;
	struct design design = { 0 };
	struct sums_block *block;

	if (!row_is_valid(estimate, row))
		return -EINVAL;
	mend(estimate);
	index = advance(estimate);
	if (index >= ESTIMATE_BLOCKS)
		return -EBADMSG;
	design_fill(row, &design);
	block = sums_block(estimate, index);
	set_busy(estimate, 1 + index);
	add_columns(block, &design);
	for (uint32_t i = 0; i < n_series; i++) {
		if (isnan(row->bytes[i]))
			continue;
		block->series[i].begun_s += design.time_s[ESTIMATE_WALL];
		write_in_order();
		add_series(&block->series[i], &design, row->bytes[i]);
		add_crowd(&block->series[i], &design, sums_loads(estimate, i), row->bytes[i]);
		write_in_order();
		block->series[i].dt_s += design.time_s[ESTIMATE_WALL];
	}
	count_row(estimate, row);
	set_busy(estimate, 0);
	return 0;
}
