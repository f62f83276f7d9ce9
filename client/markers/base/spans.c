/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/markers/base/spans.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "client/libuncore/uncore.h"

uint64_t marker_span_begin(const struct marker *marker)
{
	uint64_t span = 0;

	uncore_span_begin(marker->name, &span);
	return span;
}

void marker_span_end(uint64_t span)
{
	if (span)
		uncore_span_end(span);
}

/* --- by key --- */

struct open {
	struct marker_key key;
	uint64_t span; /* 0: it is about to begin */
	struct open *next;
};

enum { CHAINS = 256 };

static struct open *chains[CHAINS];
static pthread_mutex_t chains_lock = PTHREAD_MUTEX_INITIALIZER; /* never held during a reading */

/* The link to the open span of @key, or the NULL at the end of its chain. */
static struct open **link_of(const struct marker_key *key)
{
	uint64_t hash = 0;
	struct open **link;

	for (int i = 0; i < 4; i++)
		hash = (hash ^ key->words[i]) * 0x9e3779b97f4a7c15;
	link = &chains[hash >> 56];
	while (*link && memcmp(&(*link)->key, key, sizeof *key) != 0)
		link = &(*link)->next;
	return link;
}

/* NULL: it is open, or there is no memory. */
static struct open *spans_add(const struct marker_key *key)
{
	struct open *open = calloc(1, sizeof *open), **link;

	if (!open)
		return NULL;
	open->key = *key;
	pthread_mutex_lock(&chains_lock);
	link = link_of(key);
	if (*link) {
		free(open);
		open = NULL;
	} else {
		*link = open;
	}
	pthread_mutex_unlock(&chains_lock);
	return open;
}

void marker_key_begin(const struct marker_key *key, const struct marker *marker)
{
	struct open *open = spans_add(key);
	uint64_t span;

	if (!open)
		return;
	span = marker_span_begin(marker);
	pthread_mutex_lock(&chains_lock);
	if (*link_of(key) == open) {
		open->span = span;
		span = 0;
	}
	pthread_mutex_unlock(&chains_lock);
	marker_span_end(span); /* another thread has ended it already */
}

void marker_key_end(const struct marker_key *key)
{
	struct open **link, *open;

	pthread_mutex_lock(&chains_lock);
	link = link_of(key);
	open = *link;
	if (open)
		*link = open->next;
	pthread_mutex_unlock(&chains_lock);
	if (open)
		marker_span_end(open->span);
	free(open);
}
