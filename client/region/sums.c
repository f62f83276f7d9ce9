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

static void keep(struct table_reading *last, const struct uncore_sample *sample)
{
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

static void add_value(
	struct table_socket *socket, const struct uncore_sample *sample, uint32_t i, bool is_shared)
{
	const struct uncore_value from = {
		.count = socket->last.values[i].count,
		.quality = socket->last.values[i].quality,
	};
	const struct uncore_delta_value moved =
		delta_subtract(&from, &sample->values[i], socket->last.sweep);

	socket->sums[i].count += moved.count;
	socket->sums[i].quality |= moved.quality;
	socket->shared[i] += is_shared ? moved.count : 0;
}

static void add_socket(
	struct table_socket *socket, const struct uncore_sample *sample, bool is_shared)
{
	const struct table_reading *last = &socket->last;
	uint64_t window_ns = middle_ns(sample->begin_ns, sample->end_ns) -
			     middle_ns(last->begin_ns, last->end_ns);

	socket->window_ns += window_ns;
	socket->shared_ns += is_shared ? window_ns : 0;
	socket->skew_ns += (sample->end_ns - sample->begin_ns + last->end_ns - last->begin_ns) / 2;
	socket->n_readings++;
	for (uint32_t i = 0; i < sample->n_values && i < UNCORE_METRICS_MAX; i++)
		add_value(socket, sample, i, is_shared);
}

/* --- all sockets --- */

static void begin_socket(struct table_socket *socket, const struct uncore_sample *sample)
{
	for (uint32_t i = 0; i < UNCORE_METRICS_MAX; i++)
		socket->opened[i] = socket->sums[i].count;
	if (is_later(&socket->last, sample))
		keep(&socket->last, sample);
}

void sums_open(struct table_record *record, const struct reading *reading)
{
	record->n_stretches++;
	record->is_measured = reading != NULL;
	if (!reading)
		return;
	record->n_measured++;
	for (uint32_t s = 0; s < reading->readout.n_sockets && s < PAGE_SOCKETS_MAX; s++) {
		if (s >= record->n_sockets)
			memset(&record->sockets[s], 0, sizeof record->sockets[s]);
		begin_socket(&record->sockets[s], &reading->readout.samples[s]);
	}
	record->n_sockets = reading->readout.n_sockets;
}

/* Has uncored begun to count anew? Then the traffic since the last reading is not known. */
static bool is_anew(const struct table_record *record, const struct reading *reading)
{
	for (uint32_t s = 0; s < record->n_sockets && s < reading->readout.n_sockets; s++)
		if (!same_generation(&record->sockets[s].last, &reading->readout.samples[s]))
			return true;
	return false;
}

void sums_lose(struct table_record *record, uint64_t now_ns)
{
	const uint64_t last_ns = record->sockets[0].last.end_ns;

	if (record->is_measured && now_ns > last_ns)
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

/*
 * A value that is missing now may be back at the end of the stretch. Only then are the traffic of
 * that time and its flags known. So a reading in between skips such a socket.
 */
static int add(
	struct table_record *record, const struct reading *reading, bool is_shared, bool is_last)
{
	bool anew = is_anew(record, reading);

	if (!record->is_measured)
		return 0;
	if (anew)
		sums_lose(record, reading->readout.samples[0].begin_ns);
	for (uint32_t s = 0; s < record->n_sockets && s < reading->readout.n_sockets; s++) {
		const struct uncore_sample *sample = &reading->readout.samples[s];
		struct table_socket *socket = &record->sockets[s];

		if (!is_later(&socket->last, sample) ||
			(!anew && !is_last && misses_value(&socket->last, sample)))
			continue;
		if (!anew && socket->last.sweep && sample->sweep)
			add_socket(socket, sample, is_shared);
		keep(&socket->last, sample);
	}
	return anew ? delta_stale() : 0;
}

int sums_add(struct table_record *record, const struct reading *reading, bool is_shared)
{
	return add(record, reading, is_shared, false);
}

int sums_close(struct table_record *record, const struct reading *reading, bool is_shared)
{
	int r = add(record, reading, is_shared, true);

	for (uint32_t s = 0; record->is_measured && s < record->n_sockets; s++) {
		struct table_socket *socket = &record->sockets[s];

		for (uint32_t i = 0; i < UNCORE_METRICS_MAX; i++) {
			const double moved = (double)(socket->sums[i].count - socket->opened[i]);

			socket->squares[i] += moved * moved;
		}
	}
	return r;
}
