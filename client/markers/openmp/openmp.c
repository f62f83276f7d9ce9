/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenMP's parallel regions as regions. The runtime tells a tool of each (OMPT). It loads this one
 * by OMP_TOOL_LIBRARIES, unless the program has a tool of its own.
 *
 * A region is named after the place in the code, as MODULE+0xOFFSET. Its title has the path of the
 * module, and its build ID. So `uncore report` can find the line in the source, also much later,
 * and sees whether the module is still the same.
 *
 * The thread that meets the construct is in the region, and not the threads that it starts. So a
 * passage is one execution of the construct, and takes as long as that does.
 */
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "client/libuncore/uncore.h"
#include "client/markers/base/marker.h"
#include "client/markers/openmp/ompt.h"
#include "common/macro.h"
#include "common/module.h"

enum { PLACES = 4096, TITLE_BYTES = 2048 };

/* A place in the code, and its name. */
struct place {
	const void *code; /* atomic; NULL: no place yet */
	char name[MARKER_NAME_BYTES];
};

static struct place places[PLACES];
static struct place other = { .name = "other parallel regions" };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held to add one */

/* --- places --- */

static void name_place(const void *code, struct place *place)
{
	char text[PATH_MAX + 32], title[TITLE_BYTES];
	struct module_place found;
	const char *slash;

	if (!module_find_place(code, &found)) {
		snprintf(place->name, sizeof place->name, "%p", code);
		return;
	}
	slash = strrchr(found.path, '/');
	snprintf(text, sizeof text, "%s+%#" PRIx64, slash ? slash + 1 : found.path, found.offset);
	marker_name(text, place->name);
	if (*found.id && (size_t)snprintf(title, sizeof title, "%s+%#" PRIx64 " build-id %s",
				 found.path, found.offset, found.id) < sizeof title)
		uncore_region_title(place->name, title);
}

/* The place of @code, or the free one for it. NULL: there is no room. */
static struct place *openmp_find(const void *code)
{
	const size_t hash = (size_t)code * 0x9e3779b97f4a7c15UL >> 40;

	for (size_t i = 0; i < PLACES; i++) {
		struct place *place = &places[(hash + i) % PLACES];
		const void *known = __atomic_load_n(&place->code, __ATOMIC_ACQUIRE);

		if (!known || known == code)
			return place;
	}
	return NULL;
}

static const struct place *openmp_place_of(const void *code)
{
	struct place *place = code ? openmp_find(code) : NULL;

	if (!place)
		return &other;
	if (__atomic_load_n(&place->code, __ATOMIC_ACQUIRE) == code)
		return place;
	pthread_mutex_lock(&lock);
	place = openmp_find(code);
	if (place && place->code != code) {
		name_place(code, place);
		__atomic_store_n(&place->code, code, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	return place ? place : &other;
}

/* --- the tool --- */

static void openmp_begin(OMPT_PARALLEL_BEGIN_PARAMETERS)
{
	const struct place *place = openmp_place_of(code);

	(void)task, (void)frame, (void)n_threads, (void)flags;
	parallel->pointer = (void *)place;
	uncore_region_begin(place->name);
}

static void openmp_end(
	union ompt_data *parallel, union ompt_data *task, int flags, const void *code)
{
	const struct place *place = parallel->pointer;

	(void)task, (void)flags, (void)code;
	if (place)
		uncore_region_end(place->name);
}

static int openmp_initialize(ompt_lookup *lookup, int first_device, union ompt_data *data)
{
	ompt_set_callback *set = (ompt_set_callback *)lookup("ompt_set_callback");
	ompt_parallel_begin *const begins = openmp_begin;
	ompt_parallel_end *const ends = openmp_end;

	(void)first_device, (void)data;
	if (!set)
		return 0;
	set(OMPT_PARALLEL_BEGIN, (ompt_function *)begins);
	set(OMPT_PARALLEL_END, (ompt_function *)ends);
	return 1;
}

static void openmp_finalize(union ompt_data *data)
{
	(void)data;
}

_public_ struct ompt_tool *ompt_start_tool(unsigned version, const char *runtime)
{
	static struct ompt_tool tool = { .initialize = openmp_initialize,
		.finalize = openmp_finalize };

	(void)version, (void)runtime;
	return marker_is_wanted("openmp") ? &tool : NULL;
}
