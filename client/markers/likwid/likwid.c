/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The marks of LIKWID, in C and Fortran, as regions: the functions that a program calls which was
 * built with -DLIKWID_PERFMON. Only their names and parameters are LIKWID's; no header and no code
 * of it is used here.
 *
 * Where LIKWID_MODE is set, likwid-perfctr -m runs the program, or the program has configured
 * LIKWID itself. Then each call goes on to LIKWID. LIKWID looks at that variable when it is
 * initialised, so the first call decides here, too.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "client/libuncore/uncore.h"
#include "client/markers/base/marker.h"

enum { TEXT_BYTES = 1024 }; /* the most that is looked at of a name in Fortran */

static bool likwid_is_ours(void)
{
	static const char *const variables[] = { "LIKWID_MODE", NULL };
	static int known;

	return marker_is_ours("likwid", variables, &known);
}

/* --- what a program may ask for while it runs --- */

/* How often the calling thread passed a region, and how long that took. libuncore's report has the
 * sums over threads. */
struct tally {
	uint64_t time_ns;
	uint64_t count;
};

static _Thread_local struct tally *tallies, other; /* by the texts' numbers */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* frees a thread's when it ends */

static void free_tallies(void *memory)
{
	free(memory);
	tallies = NULL;
}

static void make_key(void)
{
	pthread_key_create(&key, free_tallies);
}

static struct tally *make_tallies(void)
{
	pthread_once(&once, make_key);
	tallies = calloc(MARKERS_MAX + 1, sizeof *tallies);
	pthread_setspecific(key, tallies);
	return tallies;
}

/* The calling thread's. Names that have no room share one. */
static struct tally *tally_of(const struct marker *marker)
{
	struct tally *all = tallies;

	if (!all)
		all = make_tallies();

	return all ? &all[marker->number] : &other;
}

/* --- the calls --- */

/* Returns from the function with what LIKWID's own returns, unless the call is ours. */
#define LEAVE_TO_LIKWID(name, ...)                                                                 \
	do {                                                                                       \
		__typeof__(&name) next_ = likwid_is_ours() ? NULL : dlsym(RTLD_NEXT, #name);       \
		if (next_)                                                                         \
			return next_(__VA_ARGS__);                                                 \
	} while (0)

/* What a region does not need. */
#define DEFINE_NOTHING(name)                                                                       \
	MARKER_FUNCTION(void, name, void)                                                          \
	{                                                                                          \
		LEAVE_TO_LIKWID(name);                                                             \
	}

DEFINE_NOTHING(likwid_markerInit)
DEFINE_NOTHING(likwid_markerThreadInit)
DEFINE_NOTHING(likwid_markerNextGroup)
DEFINE_NOTHING(likwid_markerClose)
DEFINE_NOTHING(likwid_markerinit_)
DEFINE_NOTHING(likwid_markerthreadinit_)
DEFINE_NOTHING(likwid_markernextgroup_)
DEFINE_NOTHING(likwid_markerclose_)

/* --- in C --- */

MARKER_FUNCTION(int, likwid_markerRegisterRegion, const char *tag)
{
	LEAVE_TO_LIKWID(likwid_markerRegisterRegion, tag);
	return 0;
}

MARKER_FUNCTION(int, likwid_markerStartRegion, const char *tag)
{
	LEAVE_TO_LIKWID(likwid_markerStartRegion, tag);
	marker_begin(tag);
	return 0;
}

MARKER_FUNCTION(int, likwid_markerStopRegion, const char *tag)
{
	const struct marker *marker;
	struct tally *tally;

	LEAVE_TO_LIKWID(likwid_markerStopRegion, tag);
	marker = marker_of(tag);
	if (!marker_leave(marker))
		return 0;
	tally = tally_of(marker);
	tally->time_ns += uncore_passage_ns();
	tally->count++;
	return 0;
}

MARKER_FUNCTION(int, likwid_markerResetRegion, const char *tag)
{
	LEAVE_TO_LIKWID(likwid_markerResetRegion, tag);
	*tally_of(marker_of(tag)) = (struct tally){ .count = 0 };
	return 0;
}

/* The counts of LIKWID's events are not known, so there are none. */
MARKER_FUNCTION(void, likwid_markerGetRegion, const char *tag, int *n_events, double *events,
	double *time_s, int *count)
{
	const struct tally *tally;

	LEAVE_TO_LIKWID(likwid_markerGetRegion, tag, n_events, events, time_s, count);
	tally = tally_of(marker_of(tag));
	if (n_events)
		*n_events = 0;
	if (time_s)
		*time_s = (double)tally->time_ns / 1e9;
	if (count)
		*count = (int)tally->count;
}

/* --- in Fortran: names are padded with blanks, and their lengths follow the arguments --- */

static const char *trimmed(const char *tag, int length, char text[TEXT_BYTES])
{
	size_t n = length < 0 ? 0 : length < TEXT_BYTES ? (size_t)length : TEXT_BYTES - 1;

	while (n && tag[n - 1] == ' ')
		n--;
	memcpy(text, tag, n);
	text[n] = '\0';
	return text;
}

#define DEFINE_FORTRAN(name, in_c)                                                                 \
	MARKER_FUNCTION(void, name, const char *tag, int length)                                   \
	{                                                                                          \
		char text[TEXT_BYTES];                                                             \
                                                                                                   \
		LEAVE_TO_LIKWID(name, tag, length);                                                \
		in_c(trimmed(tag, length, text));                                                  \
	}

DEFINE_FORTRAN(likwid_markerregisterregion_, likwid_markerRegisterRegion)
DEFINE_FORTRAN(likwid_markerstartregion_, likwid_markerStartRegion)
DEFINE_FORTRAN(likwid_markerstopregion_, likwid_markerStopRegion)
DEFINE_FORTRAN(likwid_markerresetregion_, likwid_markerResetRegion)

MARKER_FUNCTION(void, likwid_markergetregion_, const char *tag, int *n_events, double *events,
	double *time_s, int *count, int length)
{
	char text[TEXT_BYTES];

	LEAVE_TO_LIKWID(likwid_markergetregion_, tag, n_events, events, time_s, count, length);
	likwid_markerGetRegion(trimmed(tag, length, text), n_events, events, time_s, count);
}
