/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/sums.h"

#include <errno.h>
#include <string.h>

void sums_copy(struct table_record *to, const struct table_record *from)
{
	const size_t head_bytes = offsetof(struct table_record, sockets);
	uint32_t n = __atomic_load_n(&from->n_sockets, __ATOMIC_RELAXED);

	table_copy(to, from, head_bytes);
	table_copy(to->sockets, from->sockets,
		(n < PAGE_SOCKETS_MAX ? n : PAGE_SOCKETS_MAX) * sizeof *to->sockets);
	/* Stores the number again: the copied one may have changed, and may be out of range. */
	__atomic_store_n(
		&to->n_sockets, n < PAGE_SOCKETS_MAX ? n : PAGE_SOCKETS_MAX, __ATOMIC_RELAXED);
}

/* --- one socket --- */

static void keep(struct table_reading *last, const struct uncore_sample *sample,
	const struct sums_reading *reading)
{
	last->sole = reading->sole_before;
	last->others = reading->others_before;
	memcpy(last->generation, sample->generation, sizeof last->generation);
	last->sweep = sample->sweep;
	last->begin_ns = sample->begin_ns;
	last->end_ns = sample->end_ns;
	for (uint32_t i = 0; i < sample->n_values && i < UNCORE_METRICS_MAX; i++)
		last->values[i] = (struct table_count){
			.count = sample->values[i].count,
			.quality = sample->values[i].quality,
		};
}

static bool same_generation(const struct table_reading *last, const struct uncore_sample *sample)
{
	return memcmp(last->generation, sample->generation, sizeof last->generation) == 0;
}

/* Another member may have added a later reading already. */
static bool is_later(const struct table_reading *last, const struct uncore_sample *sample)
{
	return !last->sweep || !same_generation(last, sample) || sample->sweep > last->sweep;
}

static uint64_t middle_ns(uint64_t begin_ns, uint64_t end_ns)
{
	return begin_ns + (end_ns - begin_ns) / 2;
}

/* What a difference is. */
struct window {
	bool was_alone, is_stale, is_row;
	bool is_foreign;      /* another region was alone */
	bool is_first;        /* of the windows in which the region was alone */
	uint64_t gap_ns;      /* time in which the region was not open */
	uint64_t n_stretches; /* that it holds, also in part */
	uint64_t n_gaps;
};

static uint64_t moved_of(const struct table_socket *socket, const struct uncore_sample *sample,
	uint32_t i, uint32_t *ret_quality)
{
	const struct uncore_value from = {
		.count = socket->last.values[i].count,
		.quality = socket->last.values[i].quality,
	};
	const struct uncore_delta_value moved =
		delta_subtract(&from, &sample->values[i], socket->last.sweep);

	*ret_quality = moved.quality;
	return moved.count;
}

static void add_alone(
	struct table_socket *socket, uint32_t i, uint64_t moved, const struct window *window)
{
	float each;

	socket->alone[i] += moved;
	if (!window->gap_ns || !window->n_stretches)
		return;
	each = (float)moved / (float)window->n_stretches;
	socket->alone_windows[i] += moved;
	if (window->is_first || each < socket->least[i])
		socket->least[i] = each;
}

static void add_value(struct table_socket *socket, const struct uncore_sample *sample, uint32_t i,
	const struct window *window, double gap_share)
{
	uint32_t quality;
	const uint64_t moved = moved_of(socket, sample, i, &quality);

	socket->sums[i].quality |= quality;
	if (window->is_stale) {
		socket->stale[i] += moved;
		return;
	}
	socket->sums[i].count += moved;
	if (window->was_alone)
		add_alone(socket, i, moved, window);
	else if (window->is_foreign)
		socket->foreign[i] += moved;
	else
		socket->mixed[i] += (double)moved * gap_share;
	if (window->is_row && window->gap_ns)
		socket->alone_windows[i] += moved;
}

static void add_socket(struct table_socket *socket, const struct uncore_sample *sample,
	const struct window *window)
{
	const struct table_reading *last = &socket->last;
	const uint64_t all_ns = reading_middle_ns(sample) - middle_ns(last->begin_ns, last->end_ns);
	const uint64_t gap_ns = window->gap_ns < all_ns ? window->gap_ns : all_ns;

	for (uint32_t i = 0; i < sample->n_values && i < UNCORE_METRICS_MAX; i++)
		add_value(socket, sample, i, window, all_ns ? (double)gap_ns / (double)all_ns : 0);
	if (window->is_stale)
		return;
	socket->window_ns += all_ns - gap_ns;
	socket->alone_ns += window->was_alone ? all_ns : 0;
	socket->skew_ns += (sample->end_ns - sample->begin_ns + last->end_ns - last->begin_ns) / 2;
	socket->n_readings++;
}

/* --- all sockets --- */

static void keep_state(struct table_record *record, const struct window_state *state)
{
	record->n_stretches = state->n_stretches;
	record->n_gaps = state->n_gaps;
	record->n_idle = state->n_idle;
	record->gap_ns = state->gap_ns;
	record->was_open = state->is_open;
}

/*
 * While each change of class takes a reading, only that reading says which class begins, and the
 * latest change decides. Members may come here in another order than their changes or readings.
 */
static void keep_row(struct table_record *record, const struct sums_reading *reading, bool is_read)
{
	const struct window_state *state = &reading->state;

	if (is_read) {
		record->n_stretches = state->n_stretches;
		record->n_idle = state->n_idle;
		record->gap_ns = state->gap_ns;
	}
	if ((reading->is_turn || reading->is_mixed) &&
		(int32_t)(state->n_gaps - record->n_gaps) >= 0) {
		record->n_gaps = state->n_gaps;
		record->was_open = state->is_open;
	}
}

void sums_open(struct table_record *record, const struct sums_reading *reading)
{
	const struct readout *readout = reading->readout;

	for (uint32_t s = 0; s < readout->n_sockets && s < PAGE_SOCKETS_MAX; s++) {
		struct table_reading *last = &record->sockets[s].last;

		if (s >= record->n_sockets)
			memset(&record->sockets[s], 0, sizeof record->sockets[s]);
		if (is_later(last, &readout->samples[s]))
			keep(last, &readout->samples[s], reading);
	}
	record->n_sockets = readout->n_sockets;
	keep_state(record, &reading->state);
}

/* Has uncored begun to count anew? Then the traffic since the last reading is not known. */
static bool is_anew(const struct table_record *record, const struct sums_reading *reading)
{
	for (uint32_t s = 0; s < record->n_sockets && s < reading->readout->n_sockets; s++)
		if (!same_generation(&record->sockets[s].last, &reading->readout->samples[s]))
			return true;
	return false;
}

void sums_lose(struct table_record *record, uint64_t now_ns)
{
	const uint64_t last_ns = record->sockets[0].last.end_ns;

	if (record->n_sockets && now_ns > last_ns)
		record->lost_ns += now_ns - last_ns;
}

/* Is a value missing that the last reading had? */
static bool misses_value(const struct table_reading *last, const struct uncore_sample *sample)
{
	for (uint32_t i = 0; i < sample->n_values && i < UNCORE_METRICS_MAX; i++)
		if (sample->values[i].quality & ~last->values[i].quality & UNCORE_ABSENT)
			return true;
	return false;
}

/* Was the region open since the last reading? */
static bool is_active(const struct table_record *record, const struct sums_reading *reading)
{
	const struct window_state *state = &reading->state;

	if (reading->is_row && !record->was_open)
		return reading->is_mixed && (state->is_open || state->gap_ns != record->gap_ns);
	return record->was_open || state->n_stretches != record->n_stretches;
}

static void count_window(struct table_record *record, const struct window *window, uint64_t time_ns)
{
	if (!window->gap_ns)
		return;
	record->n_windows++;
	record->windows_ns += time_ns;
	if (window->is_stale) {
		record->stale_stretches += window->n_stretches;
		return;
	}
	record->window_stretches += window->n_stretches;
	if (!window->was_alone)
		return;
	record->alone_windows++;
	record->alone_stretches += window->n_stretches;
	record->alone_window_ns += time_ns;
	record->alone_gaps += window->n_gaps;
	record->alone_gap_ns += window->gap_ns;
}

static void find_alone(
	const struct table_reading *last, const struct sums_reading *reading, struct window *window)
{
	const unsigned alone = sums_find_alone(last, reading);

	window->was_alone = alone == reading->region;
	window->is_foreign = !window->was_alone && alone != ALONE_NOBODY;
}

/* Between changes of class that took no reading: what moved may have been of any class. */
static struct window window_of_row(
	const struct table_record *record, const struct sums_reading *reading, uint64_t time_ns)
{
	const struct window_state *state = &reading->state;
	const uint64_t inside_ns = state->gap_ns - record->gap_ns;

	return (struct window){
		.is_row = true,
		.gap_ns = !reading->is_mixed    ? 0
			  : inside_ns < time_ns ? time_ns - inside_ns
						: 1,
		.n_stretches = state->n_stretches - record->n_stretches + record->was_open,
	};
}

static struct window window_of(
	const struct table_record *record, const struct sums_reading *reading, uint64_t time_ns)
{
	const struct window_state *state = &reading->state;
	/* Without windows, what other members count meanwhile does not matter. */
	const bool may_have_gap = !record->was_open || state->n_idle != record->n_idle;

	if (reading->is_row)
		return window_of_row(record, reading, time_ns);
	return (struct window){
		.is_stale = reading->is_stale,
		.is_first = !record->alone_windows,
		.gap_ns = may_have_gap && state->gap_ns > record->gap_ns
				  ? state->gap_ns - record->gap_ns
				  : 0,
		.n_stretches = state->n_stretches - record->n_stretches + record->was_open,
		.n_gaps = state->n_gaps - record->n_gaps,
	};
}

/*
 * A value that is missing now may be back at the end of the stretch. Only then are the traffic of
 * that time and its flags known. So a reading in between skips such a socket.
 */
static int add(struct table_record *record, const struct sums_reading *reading, bool is_last)
{
	const struct readout *readout = reading->readout;
	const bool anew = is_anew(record, reading), active = is_active(record, reading);
	const struct table_reading *first = &record->sockets[0].last;
	const uint64_t time_ns =
		reading_middle_ns(&readout->samples[0]) - middle_ns(first->begin_ns, first->end_ns);
	struct window window = window_of(record, reading, time_ns);
	bool any = false;

	if (anew && active)
		sums_lose(record, readout->samples[0].begin_ns);
	for (uint32_t s = 0; s < record->n_sockets && s < readout->n_sockets; s++) {
		const struct uncore_sample *sample = &readout->samples[s];
		struct table_socket *socket = &record->sockets[s];

		if (!is_later(&socket->last, sample) ||
			(!anew && !is_last && misses_value(&socket->last, sample)))
			continue;
		find_alone(&socket->last, reading, &window);
		if (active && !anew && socket->last.sweep && sample->sweep)
			add_socket(socket, sample, &window);
		keep(&socket->last, sample, reading);
		any = true;
	}
	if (any && active && !anew)
		count_window(record, &window, time_ns);
	if (reading->is_row)
		keep_row(record, reading, any);
	else if (any)
		keep_state(record, &reading->state);
	return anew && active ? delta_stale() : 0;
}

int sums_add(struct table_record *record, const struct sums_reading *reading)
{
	return add(record, reading, false);
}

int sums_close(struct table_record *record, const struct sums_reading *reading)
{
	return add(record, reading, true);
}
