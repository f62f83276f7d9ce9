/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/markers/base/texts.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/markers/base/marker.h"
#include "common/text.h"

/* As much of @text as there is room for behind the first @length bytes. Returns the whole length.
 */
static size_t texts_append(char buffer[JOINED_BYTES], size_t length, const char *text)
{
	for (; *text; text++, length++)
		if (length < JOINED_BYTES - 1)
			buffer[length] = *text;
	return length;
}

/* The text that stands for one that is longer than @buffer, of which this is the begin. */
static void texts_cut(char buffer[JOINED_BYTES], uint64_t hash)
{
	char digits[18];

	sprintf(digits, "~%016" PRIx64, hash);
	memcpy(buffer + (JOINED_BYTES - sizeof digits), digits, sizeof digits);
}

const char *marker_join(
	const char *first, const char *between, const char *second, char buffer[JOINED_BYTES])
{
	const char *end = second ? second : "";
	size_t length;

	if (!first || !*first)
		return end;
	length = texts_append(
		buffer, texts_append(buffer, texts_append(buffer, 0, first), between), end);
	if (length < JOINED_BYTES)
		buffer[length] = '\0';
	else
		texts_cut(buffer, marker_hash(first) ^ 3 * marker_hash(end));
	return buffer;
}

enum { LONGEST = 4 }; /* bytes of a character in UTF-8 */

const char *wide_narrow(const wchar_t *text, char buffer[JOINED_BYTES])
{
	uint64_t hash = 0;
	char *end = buffer;
	bool fits = true;

	for (; text && *text; text++) {
		uint32_t character = (uint32_t)*text;

		hash = (hash ^ character) * 0x9e3779b97f4a7c15;
		if (character > 0x10ffff || (character >= 0xd800 && character < 0xe000))
			character = 0xfffd;
		fits = fits && end < buffer + JOINED_BYTES - LONGEST;
		if (fits)
			end = text_put(character, end);
	}
	*end = '\0';
	if (!fits)
		texts_cut(buffer, hash);
	return buffer;
}

/* --- kept --- */

/* The newest first. It only grows, so a thread that looks up a text takes no lock. */
static struct kept *newest;
static pthread_mutex_t growing = PTHREAD_MUTEX_INITIALIZER;

static struct kept *first(void)
{
	return __atomic_load_n(&newest, __ATOMIC_ACQUIRE);
}

static struct kept *texts_find(const char *text)
{
	struct kept *kept = first();

	while (kept && strcmp(kept->text, text) != 0)
		kept = kept->next;
	return kept;
}

static struct kept *texts_add(const char *text)
{
	struct kept *kept = calloc(1, sizeof *kept);

	if (!kept)
		return NULL;
	kept->text = strdup(text);
	if (!kept->text) {
		free(kept);
		return NULL;
	}
	kept->is_enabled = 1;
	kept->next = first();
	kept->number = kept->next ? kept->next->number + 1 : 1;
	__atomic_store_n(&newest, kept, __ATOMIC_RELEASE);
	return kept;
}

struct kept *marker_keep(const char *text)
{
	const char *all = text ? text : "";
	struct kept *kept = texts_find(all);

	if (kept)
		return kept;
	pthread_mutex_lock(&growing);
	kept = texts_find(all);
	if (!kept)
		kept = texts_add(all);
	pthread_mutex_unlock(&growing);
	return kept;
}

const struct kept *marker_kept(int number)
{
	const struct kept *kept = first();

	while (kept && kept->number != number)
		kept = kept->next;
	return kept;
}
