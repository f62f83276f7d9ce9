/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/trace/counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/frame/perfetto.h"
#include "common/array.h"
#include "common/macro.h"

/* Numbers of tracks, above those of processes. */
static const uint64_t SOCKETS = UINT64_C(1) << 48, COUNTERS = UINT64_C(2) << 48;

uint64_t counts_track(unsigned host, unsigned socket)
{
	return SOCKETS + ((uint64_t)host << 8 | socket);
}

int counts_append(struct counts *counts, struct counts_entry entry)
{
	if (array_room(&counts->entries, counts->n, sizeof entry) < 0)
		return -ENOMEM;
	counts->entries[counts->n++] = entry;
	return 0;
}

int counts_add(
	struct counts *counts, const struct ring_file *ring, unsigned host, uint64_t ahead_ns)
{
	int r = 0;

	for (uint64_t i = 0; r == 0 && i < ring->n; i++) {
		const struct trace_record *record = ring_file_record(ring, ring->first + i);

		if (record && (record->state & 0xff) == TRACE_COUNT)
			r = counts_append(
				counts, (struct counts_entry){ host, record->which,
						record->time_ns + ahead_ns, record->value });
	}
	return r;
}

void counts_done(struct counts *counts)
{
	free(take_ptr(counts->entries));
}

static int by_track_and_time(const void *a, const void *b)
{
	const struct counts_entry *one = a, *other = b;

	if (one->host != other->host)
		return one->host < other->host ? -1 : 1;
	if (one->which != other->which)
		return one->which < other->which ? -1 : 1;
	if (one->time_ns != other->time_ns)
		return one->time_ns < other->time_ns ? -1 : 1;
	return (one->value > other->value) - (one->value < other->value);
}

static uint64_t socket_track(const struct counts_entry *entry)
{
	return counts_track(entry->host, entry->which >> 8);
}

static uint64_t counts_counter_track(const struct counts_entry *entry)
{
	return COUNTERS + ((uint64_t)entry->host << 16 | entry->which);
}

static void counts_describe(FILE *out, const struct counts_entry *entry, bool is_new_socket,
	const char *host, const struct trace_file *file)
{
	const char *unit = file->head.units[entry->which & 0xff];
	char text[PERFETTO_NAME_MAX];

	if (is_new_socket && entry->which >> 8 != TRACE_ALL) {
		snprintf(text, sizeof text, "socket %u of %.255s", entry->which >> 8, host);
		perfetto_track(out, socket_track(entry), 0, text);
	}
	snprintf(text, sizeof text, "%.20s/ns", unit);
	perfetto_counter_track(out, counts_counter_track(entry), socket_track(entry),
		file->head.metrics[entry->which & 0xff], strcmp(unit, "bytes") ? text : "GB/s");
}

/* A counter keeps its value until the next one. So a slice says where there is no rate. */
static void write_gap(FILE *out, const struct counts_entry *entry, const struct counts_entry *next)
{
	perfetto_begin(out, entry->time_ns, socket_track(entry),
		"no rates: uncored was restarted, and counts anew");
	perfetto_end(out, next->time_ns, socket_track(entry));
}

/* The same sweep may have served two processes. */
static void counts_write_rate(
	FILE *out, const struct counts_entry *entry, const struct counts_entry *next)
{
	if (next->value < entry->value)
		write_gap(out, entry, next);
	else if (next->time_ns > entry->time_ns)
		perfetto_count(out, entry->time_ns, counts_counter_track(entry),
			(double)(next->value - entry->value) /
				(double)(next->time_ns - entry->time_ns));
}

void counts_sort(struct counts *counts)
{
	if (counts->n)
		qsort(counts->entries, counts->n, sizeof *counts->entries, by_track_and_time);
}

void counts_write(FILE *out, struct counts *counts, const char (*names)[TRACE_HOST_BYTES],
	const struct trace_file *file)
{
	counts_sort(counts);
	for (size_t i = 0; i < counts->n; i++) {
		const struct counts_entry *entry = &counts->entries[i], *last = entry - 1;
		const bool is_first =
			!i || last->host != entry->host || last->which != entry->which;

		if (is_first)
			counts_describe(out, entry, !i || socket_track(last) != socket_track(entry),
				names[entry->host], file);
		else
			counts_write_rate(out, last, entry);
	}
}
