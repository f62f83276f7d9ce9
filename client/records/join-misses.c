/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "client/records/join-sockets.h"

/* A reason stays, whatever other nodes counted. */
static const char *why_not(const struct record_misses *from, const struct record_misses *total)
{
	if (from->absent)
		return from->absent;
	if (!*from->event != !*total->event)
		return "Not all records of the region have counts.";
	return strcmp(from->event, total->event) == 0 ? NULL : "Nodes counted different events.";
}

bool join_misses(const struct record_misses *from, bool is_first, struct record_misses *total)
{
	const char *why;

	if (is_first)
		strcpy(total->event, from->event);
	total->count = join_add(total->count, from->count);
	if (total->absent)
		return true;
	why = why_not(from, total);
	if (!*total->event)
		strcpy(total->event, from->event);
	if (why)
		total->absent = strdup(why);
	return !why || total->absent;
}
