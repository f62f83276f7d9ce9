/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/perfetto.h"

#include <string.h>

enum { MESSAGE_MAX = 1024, VARINT_MAX = 10 };

/* Wire types of protobuf. */
enum { VARINT = 0, FIXED64 = 1, BYTES = 2 };

/* Numbers of fields, by message. */
enum { TRACE_PACKET = 1 };
enum {
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_TRACK = 60,
};
enum { INTERNED_EVENT_NAME = 2, EVENT_NAME_NUMBER = 1, EVENT_NAME_TEXT = 2 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { COUNTER_UNIT_NAME = 6 };
enum { EVENT_TYPE = 9, EVENT_NAMED = 10, EVENT_TRACK = 11, EVENT_NAME = 23, EVENT_VALUE = 44 };

/* Of a packet: nothing is interned yet; and, what is interned is needed. */
enum { FLAG_CLEARED = 1, FLAG_NEEDED = 2 };

enum event_type { SLICE_BEGIN = 1, SLICE_END = 2, COUNTER = 4 };

struct message {
	uint8_t bytes[MESSAGE_MAX];
	size_t n;
};

/* What does not fit is left out; names are cut before, so that all fits. */
static void perfetto_put(struct message *message, const void *bytes, size_t n)
{
	if (n > MESSAGE_MAX - message->n)
		return;
	memcpy(message->bytes + message->n, bytes, n);
	message->n += n;
}

/* Seven bits a byte, the lowest first. */
static void put_number(struct message *message, uint64_t value)
{
	uint8_t bytes[VARINT_MAX];
	size_t n = 0;

	do
		bytes[n++] = (uint8_t)(value & 0x7f) | (value > 0x7f ? 0x80 : 0);
	while (value >>= 7);
	perfetto_put(message, bytes, n);
}

static void put_varint(struct message *message, unsigned field, uint64_t value)
{
	put_number(message, field << 3 | VARINT);
	put_number(message, value);
}

static void put_double(struct message *message, unsigned field, double value)
{
	uint8_t bytes[sizeof value];
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(bits >> 8 * i);
	put_number(message, field << 3 | FIXED64);
	perfetto_put(message, bytes, sizeof bytes);
}

static void put_bytes(struct message *message, unsigned field, const void *bytes, size_t n)
{
	put_number(message, field << 3 | BYTES);
	put_number(message, n);
	perfetto_put(message, bytes, n);
}

static void put_text(struct message *message, unsigned field, const char *text)
{
	put_bytes(message, field, text, strnlen(text, PERFETTO_NAME_MAX));
}

static void put_message(struct message *message, unsigned field, const struct message *inner)
{
	put_bytes(message, field, inner->bytes, inner->n);
}

static void write_packet(FILE *out, const struct message *packet)
{
	struct message trace = { .n = 0 };

	put_number(&trace, TRACE_PACKET << 3 | BYTES);
	put_number(&trace, packet->n);
	fwrite(trace.bytes, 1, trace.n, out);
	fwrite(packet->bytes, 1, packet->n, out);
}

static void write_track(
	FILE *out, uint64_t track, uint64_t parent, const char *name, const struct message *counter)
{
	struct message packet = { .n = 0 }, descriptor = { .n = 0 };

	put_varint(&descriptor, TRACK_UUID, track);
	put_text(&descriptor, TRACK_NAME, name);
	if (parent)
		put_varint(&descriptor, TRACK_PARENT, parent);
	if (counter)
		put_message(&descriptor, TRACK_COUNTER, counter);
	put_message(&packet, PACKET_TRACK, &descriptor);
	write_packet(out, &packet);
}

void perfetto_track(FILE *out, uint64_t track, uint64_t parent, const char *name)
{
	write_track(out, track, parent, name, NULL);
}

void perfetto_counter_track(
	FILE *out, uint64_t track, uint64_t parent, const char *name, const char *unit)
{
	struct message counter = { .n = 0 };

	put_text(&counter, COUNTER_UNIT_NAME, unit);
	write_track(out, track, parent, name, &counter);
}

static struct message event_of(enum event_type type, uint64_t track)
{
	struct message event = { .n = 0 };

	put_varint(&event, EVENT_TYPE, type);
	put_varint(&event, EVENT_TRACK, track);
	return event;
}

/* All packets of events are one sequence. */
static struct message packet_of(unsigned flags)
{
	struct message packet = { .n = 0 };

	put_varint(&packet, PACKET_SEQUENCE, 1);
	if (flags)
		put_varint(&packet, PACKET_FLAGS, flags);
	return packet;
}

static void perfetto_write_event(
	FILE *out, uint64_t time_ns, const struct message *event, unsigned flags)
{
	struct message packet = packet_of(flags);

	put_varint(&packet, PACKET_TIMESTAMP, time_ns);
	put_message(&packet, PACKET_EVENT, event);
	write_packet(out, &packet);
}

void perfetto_count(FILE *out, uint64_t time_ns, uint64_t track, double value)
{
	struct message event = event_of(COUNTER, track);

	put_double(&event, EVENT_VALUE, value);
	perfetto_write_event(out, time_ns, &event, 0);
}

void perfetto_begin(FILE *out, uint64_t time_ns, uint64_t track, const char *name)
{
	struct message event = event_of(SLICE_BEGIN, track);

	put_text(&event, EVENT_NAME, name);
	perfetto_write_event(out, time_ns, &event, 0);
}

void perfetto_end(FILE *out, uint64_t time_ns, uint64_t track)
{
	const struct message event = event_of(SLICE_END, track);

	perfetto_write_event(out, time_ns, &event, 0);
}

/* --- names that slices share --- */

void perfetto_start(FILE *out)
{
	const struct message packet = packet_of(FLAG_CLEARED);

	write_packet(out, &packet);
}

void perfetto_name(FILE *out, uint64_t number, const char *name)
{
	struct message packet = packet_of(FLAG_NEEDED), interned = { .n = 0 }, entry = { .n = 0 };

	put_varint(&entry, EVENT_NAME_NUMBER, number);
	put_text(&entry, EVENT_NAME_TEXT, name);
	put_message(&interned, INTERNED_EVENT_NAME, &entry);
	put_message(&packet, PACKET_INTERNED, &interned);
	write_packet(out, &packet);
}

void perfetto_begin_named(FILE *out, uint64_t time_ns, uint64_t track, uint64_t number)
{
	struct message event = event_of(SLICE_BEGIN, track);

	put_varint(&event, EVENT_NAMED, number);
	perfetto_write_event(out, time_ns, &event, FLAG_NEEDED);
}
