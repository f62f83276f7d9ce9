/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the libraries of markers share. Each of them gives the marks of one interface, such as
 * LIKWID's, to the regions of libuncore, by its public header alone. A library is loaded into
 * programs that know nothing of it: no function here prints, fails, or says what went wrong; the
 * report does.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/macro.h"

enum {
	MARKER_NAME_BYTES = 64, /* with the final NUL: the most that a region's name has */
	MARKERS_MAX = 1024,     /* texts that are told apart; a team has no more regions */
};

/*
 * What is known of a text, for as long as the process lives. A text of 1 to 63 bytes that is UTF-8
 * without control characters is its own name. Any other gets a readable short form, "~" and 8
 * hexadecimal digits of a hash of the whole text, so that two texts do not merge; the report has
 * the whole text beside it.
 */
struct marker {
	unsigned number; /* below MARKERS_MAX; MARKERS_MAX: one of the texts that have no room */
	char name[MARKER_NAME_BYTES]; /* of its region */
	char text[];
};

/* NULL is as "". */
const struct marker *marker_of(const char *text);

uint64_t marker_hash(const char *text);

static inline void marker_name(const char *text, char ret_name[MARKER_NAME_BYTES])
{
	memcpy(ret_name, marker_of(text)->name, MARKER_NAME_BYTES);
}

/*
 * A passage of this thread through the region of @marker. If it ends while later ones are open,
 * these end, too, and begin again: no byte is lost, but they count once more. To end what is not
 * open does nothing, and is false.
 */
void marker_enter(const struct marker *marker);
bool marker_leave(const struct marker *marker);

static inline void marker_begin(const char *text)
{
	marker_enter(marker_of(text));
}

static inline void marker_end(const char *text)
{
	marker_leave(marker_of(text));
}

/* For interfaces whose end has no name: it ends the innermost. Each @owner, such as a domain, has a
 * stack of its own in each thread; NULL is that of all passages above. */
void marker_enter_in(const void *owner, const struct marker *marker);
void marker_pop_in(const void *owner);

/* The same, and while it is open marker_with() finds the marker by @inside, not NULL. NULL: there
 * is none. */
void marker_enter_with(const void *owner, const void *inside, const struct marker *marker);
const struct marker *marker_with(const void *inside);

static inline void marker_pop(void)
{
	marker_pop_in(NULL);
}

/* May the library of @family, such as "likwid", work in this process? UNCORE_MARKERS, which `uncore
 * run` sets, is a list with commas of those that may; without it all may. */
bool marker_is_wanted(const char *family);

/* The same, unless the interface's own tool is told to work: by one of @variables, which end with
 * NULL. The first call of a process decides, and keeps that in *@known, which begins as 0. */
bool marker_is_ours(const char *family, const char *const variables[], int *known);

/* Begins the definition of a function that others find by its name, and that no header declares. */
#define MARKER_FUNCTION(type, name, ...)                                                           \
	_public_ type name(__VA_ARGS__);                                                           \
	type name(__VA_ARGS__)

/* Is @word an element of @list, which has commas? */
bool marker_list_has(const char *list, const char *word);
