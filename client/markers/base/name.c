/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of texts. A program marks few places, and passes them often: each text is looked at once,
 * and kept for all threads until the process ends. Nobody waits for a lock.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/libuncore/uncore.h"
#include "client/markers/base/marker.h"
#include "common/text.h"

enum {
	SHORT_BYTES = MARKER_NAME_BYTES - 1 - 9, /* without "~" and the digits */
	TITLE_BYTES = 2048,                      /* the most that libuncore keeps */
	PLACES = 256,
};

static struct marker *all[MARKERS_MAX]; /* atomic; by the texts' hashes; owned by the process */
static const struct marker *last_at[PLACES]; /* atomic; by the texts' addresses */

/* libuncore calls those so for which it has no room. */
static const struct marker other = { .number = MARKERS_MAX, .name = "(other names)" };

/* FNV-1a */
uint64_t marker_hash(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	return hash;
}

/* --- one name --- */

/* Copies whole characters as far as there is room; for a byte that is not plain, "?" or "\x1b". */
static void name_copy(const char *text, bool escapes, size_t room_bytes, char *ret)
{
	char piece[8];
	size_t length = 0, n;

	for (; *text; text += n ? n : 1) {
		n = text_plain_bytes(text);
		if (n)
			snprintf(piece, sizeof piece, "%.*s", (int)n, text);
		else
			snprintf(piece, sizeof piece, escapes ? "\\x%02x" : "?", *text & 0xffU);
		if (length + strlen(piece) > room_bytes)
			break;
		strcpy(ret + length, piece);
		length += strlen(piece);
	}
	ret[length] = '\0';
}

static void make_name(const char *text, uint64_t hash, char ret_name[MARKER_NAME_BYTES])
{
	char title[TITLE_BYTES] = "";

	if (*text && strnlen(text, MARKER_NAME_BYTES) < MARKER_NAME_BYTES && text_is_plain(text)) {
		strcpy(ret_name, text);
		return;
	}
	name_copy(text, false, SHORT_BYTES, ret_name);
	sprintf(ret_name + strlen(ret_name), "~%08x", (unsigned)(hash ^ hash >> 32));
	name_copy(text, true, TITLE_BYTES - 1, title);
	if (*title)
		uncore_region_title(ret_name, title);
}

/* --- all names --- */

static struct marker *marker_new(const char *text, uint64_t hash, unsigned number)
{
	struct marker *marker = calloc(1, sizeof *marker + strlen(text) + 1);

	if (!marker)
		return NULL;
	marker->number = number;
	make_name(text, hash, marker->name);
	strcpy(marker->text, text);
	return marker;
}

/* The one of @text in place @number, where it comes if the place is free; or the one that is
 * there. */
static const struct marker *at(unsigned number, const char *text, uint64_t hash)
{
	struct marker *found = __atomic_load_n(&all[number], __ATOMIC_ACQUIRE), *new;

	if (found)
		return found;
	new = marker_new(text, hash, number);
	if (!new)
		return &other;
	if (__atomic_compare_exchange_n(
		    &all[number], &found, new, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return new;
	free(new);
	return found;
}

static const struct marker *name_find(const char *text)
{
	const uint64_t hash = marker_hash(text);

	for (unsigned i = 0; i < MARKERS_MAX; i++) {
		const struct marker *marker = at((hash + i) % MARKERS_MAX, text, hash);

		if (marker == &other || strcmp(marker->text, text) == 0)
			return marker;
	}
	return &other;
}

const struct marker *marker_of(const char *text)
{
	const char *whole = text ? text : "";
	const struct marker **place = &last_at[(uintptr_t)whole / 16 % PLACES];
	const struct marker *marker = __atomic_load_n(place, __ATOMIC_ACQUIRE);

	if (marker && strcmp(marker->text, whole) == 0)
		return marker;
	marker = name_find(whole);
	if (marker != &other)
		__atomic_store_n(place, marker, __ATOMIC_RELEASE);
	return marker;
}
