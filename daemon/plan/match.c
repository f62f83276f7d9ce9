/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A driver may leave a socket that lacks a box out of the PMU's cpumask (Intel since kernel 6.12),
 * or register one PMU per box of the whole machine (AMD). So it is not an error if a socket has no
 * box of some PMU, provided that the cpumask is known and the topology has all its CPUs.
 */
#include "daemon/plan/match.h"

#include <assert.h>
#include <errno.h>
#include <fnmatch.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"

static const char separator[] = " | ";

static int socket_of(const struct topology *topology, int cpu)
{
	return (unsigned)cpu < topology->n_cpus ? topology->socket_of_cpu[cpu] : TOPOLOGY_OFFLINE;
}

/* Both CPUs are online. */
static bool is_same_box(const struct pmu *pmu, const struct topology *topology, int one, int other)
{
	const int *place = pmu->is_per_socket ? topology->socket_of_cpu : topology->die_of_cpu;

	return place[one] == place[other];
}

static bool first_of_box(const struct pmu *pmu, const struct topology *topology, int cpu)
{
	int earlier;

	for (earlier = hwloc_bitmap_first(pmu->cpumask); earlier >= 0 && earlier < cpu;
		earlier = hwloc_bitmap_next(pmu->cpumask, earlier))
		if (socket_of(topology, earlier) >= 0 && is_same_box(pmu, topology, earlier, cpu))
			return false;
	return true;
}

/* A PMU with a place of its own is one box, on any CPU that its driver offers. */
static int placed_cpu(const struct pmu *pmu, const struct topology *topology)
{
	int cpu = hwloc_bitmap_first(pmu->cpumask);

	while (cpu >= 0 && socket_of(topology, cpu) < 0)
		cpu = hwloc_bitmap_next(pmu->cpumask, cpu);
	return cpu;
}

int match_next_cpu(const struct pmu *pmu, const struct topology *topology, unsigned socket, int cpu)
{
	if (!pmu->cpumask)
		return -1;
	if (pmu->place)
		return pmu->place == socket + 1 && cpu < 0 ? placed_cpu(pmu, topology) : -1;
	while ((cpu = hwloc_bitmap_next(pmu->cpumask, cpu)) >= 0)
		if (socket_of(topology, cpu) == (int)socket && first_of_box(pmu, topology, cpu))
			return cpu;
	return -1;
}

static unsigned n_boxes(const struct pmu *pmu, const struct topology *topology, unsigned socket)
{
	unsigned n = 0;
	int cpu = -1;

	while ((cpu = match_next_cpu(pmu, topology, socket, cpu)) >= 0)
		n++;
	return n;
}

/* The largest number of dies that @pmu counts on in one socket. */
static unsigned most_boxes(const struct pmu *pmu, const struct topology *topology)
{
	unsigned most = 0;

	for (unsigned s = 0; s < topology->n_sockets; s++) {
		unsigned n = n_boxes(pmu, topology, s);

		most = n > most ? n : most;
	}
	return most;
}

/* The first CPU of the cpumask with this socket_of(); -1: none. */
static int match_find_cpu(const struct pmu *pmu, const struct topology *topology, int place)
{
	int cpu = hwloc_bitmap_first(pmu->cpumask);

	while (cpu >= 0 && socket_of(topology, cpu) != place)
		cpu = hwloc_bitmap_next(pmu->cpumask, cpu);
	return cpu;
}

static bool match_has_place(const struct pmu *pmu, const struct topology *topology)
{
	return pmu->cpumask && most_boxes(pmu, topology);
}

/* Without packages one CPU of the cpumask is taken. The number of the others, which may be on other
 * sockets. */
static unsigned count_unplaced(const struct pmu *pmu, const struct topology *topology)
{
	unsigned n = 0;
	int cpu;

	if (topology->has_packages || pmu->place)
		return 0;
	for (cpu = hwloc_bitmap_first(pmu->cpumask); cpu >= 0;
		cpu = hwloc_bitmap_next(pmu->cpumask, cpu))
		n += socket_of(topology, cpu) >= 0;
	return n ? n - 1 : 0;
}

unsigned match_n_lost(const struct match *match, const struct topology *topology, unsigned socket,
	char ret_why[PAGE_TEXT_MAX])
{
	const struct pmu *pmu = match->pmu;
	unsigned n = pmu->cpumask ? n_boxes(pmu, topology, socket) : 0, most, unplaced;
	int stray;

	memcpy(ret_why, match->why, PAGE_TEXT_MAX);
	if (match->is_repeated)
		return 0;
	if (pmu->place && pmu->place != PMU_NO_PLACE && pmu->place != socket + 1)
		return 0;
	if (!pmu->cpumask || hwloc_bitmap_iszero(pmu->cpumask) || pmu->place == PMU_NO_PLACE)
		return 1;
	if (n && !match->usable)
		return n;
	stray = match_find_cpu(pmu, topology, TOPOLOGY_NOWHERE);
	if (stray >= 0) {
		snprintf(ret_why, PAGE_TEXT_MAX,
			"the cpumask of %s names CPU %d, whose socket is not known", pmu->name,
			stray);
		return 1;
	}
	unplaced = count_unplaced(pmu, topology);
	if (unplaced) {
		snprintf(ret_why, PAGE_TEXT_MAX,
			"the cpumask of %s has %u CPUs, and the kernel does not say on which "
			"sockets they are",
			pmu->name, unplaced + 1);
		return unplaced;
	}
	most = most_boxes(pmu, topology);
	if (n && n < most) {
		snprintf(ret_why, PAGE_TEXT_MAX,
			"%s counts on %u of the %u dies that another socket has: the others are "
			"offline",
			pmu->name, n, most);
		return most - n;
	}
	if (n || match_find_cpu(pmu, topology, TOPOLOGY_OFFLINE) < 0)
		return 0;
	if (match->usable)
		snprintf(ret_why, PAGE_TEXT_MAX, "its CPU of this socket is offline");
	return 1;
}

static void resolve(const struct platform_term *term, const char *unit,
	const struct topology *topology, struct match *match)
{
	const struct worth worth = { term->scale, unit };
	const struct pmu *pmu = match->pmu;
	int r;

	match->whole_pmu = true;
	if (pmu->why[0]) {
		memcpy(match->why, pmu->why, sizeof match->why);
		return;
	}
	if (pmu->place == PMU_NO_PLACE) {
		snprintf(match->why, sizeof match->why,
			"pmu_sockets of the platform file does not name its socket");
		return;
	}
	if (pmu->place > topology->n_sockets) {
		snprintf(match->why, sizeof match->why,
			"pmu_sockets of the platform file gives it socket %u, which is not online",
			pmu->place - 1);
		return;
	}
	if (!match_has_place(pmu, topology)) {
		snprintf(match->why, sizeof match->why, "the cpumask of %s names no online CPU",
			pmu->name);
		return;
	}
	match->whole_pmu = false;
	r = event_encode(pmu, &term->event, &worth, &match->code, match->why);
	match->usable = r == 0;
	match->contradicted = r == -EDOM;
	if (term->clock.n)
		match->has_clock =
			event_encode(pmu, &term->clock, NULL, &match->clock, match->clock_why) == 0;
}

/* --- the PMUs that a term names --- */

/* Each number becomes "0". */
static void take_shape(const char *text, char *ret)
{
	static const char any_number[] = "[0-9]*";

	while (*text) {
		bool is_any = !strncmp(text, any_number, strlen(any_number));
		size_t n_digits = strspn(text, "0123456789");

		*ret++ = is_any || n_digits ? '0' : *text;
		text += is_any ? strlen(any_number) : n_digits ? n_digits : 1;
	}
	*ret = '\0';
}

/* "[0-9]*" is a number: to fnmatch(3) "uncore_imc_[0-9]*" names "uncore_imc_0_extra", too. */
static bool is_named(const struct pmu *pmu, const char *glob)
{
	char shape[sizeof pmu->name], glob_shape[sizeof((struct platform_term *)0)->pmu];

	take_shape(pmu->name, shape);
	take_shape(glob, glob_shape);
	return !fnmatch(glob, pmu->name, 0) && !fnmatch(glob_shape, shape, 0);
}

static bool match_has_pmu(const struct match_list *list, const struct pmu *pmu)
{
	for (unsigned i = 0; i < list->n; i++)
		if (list->matches[i].pmu == pmu)
			return true;
	return false;
}

/* The kernel gives each PMU of hardware a type of its own. One that has another's counts the same.
 */
static const struct pmu *find_twin(const struct match_list *list, const struct pmu *pmu)
{
	for (unsigned i = 0; i < list->n; i++)
		if (pmu->type >= PERF_TYPE_MAX && list->matches[i].pmu->type == pmu->type)
			return list->matches[i].pmu;
	return NULL;
}

static bool is_repeated_on(const struct pmu *earlier, const struct pmu *pmu,
	const struct topology *topology, unsigned socket)
{
	int cpu = match_next_cpu(pmu, topology, socket, -1);
	int first = match_next_cpu(earlier, topology, socket, -1);

	return cpu >= 0 && first >= 0 && cpu != first;
}

/* PMUs that count a whole socket are all on one CPU of it. On another CPU they are a further set of
 * the same. */
static const struct pmu *find_repeated(
	const struct match_list *list, const struct pmu *pmu, const struct topology *topology)
{
	for (unsigned i = 0; i < list->n && pmu->is_per_socket; i++)
		for (unsigned s = 0; s < topology->n_sockets && list->matches[i].usable; s++)
			if (is_repeated_on(list->matches[i].pmu, pmu, topology, s))
				return list->matches[i].pmu;
	return NULL;
}

/* What a term is matched with. */
struct candidates {
	const struct platform_term *term;
	const char *unit;
	const struct pmu_list *pmus;
	const struct topology *topology;
};

/* If an earlier glob has named PMUs, those of this one are told, and not counted. */
static int match_glob(
	const struct candidates *candidates, const char *glob, struct match_list *list)
{
	const struct pmu *earlier = list->n ? list->matches[0].pmu : NULL;

	for (unsigned i = 0; i < candidates->pmus->n; i++) {
		const struct pmu *pmu = &candidates->pmus->pmus[i], *twin, *repeated;
		struct match *match;

		if (!is_named(pmu, glob) || match_has_pmu(list, pmu))
			continue;
		twin = find_twin(list, pmu);
		repeated = find_repeated(list, pmu, candidates->topology);
		if (array_room(&list->matches, list->n, sizeof *list->matches) < 0)
			return -ENOMEM;
		match = &list->matches[list->n++];
		*match = (struct match){ .pmu = pmu, .is_repeated = repeated };
		if (earlier)
			snprintf(match->why, sizeof match->why,
				"%s is there, too, and the platform file counts one of both names",
				earlier->name);
		else if (twin)
			snprintf(match->why, sizeof match->why,
				"it has the type of %s, which is counted", twin->name);
		else if (repeated)
			snprintf(match->why, sizeof match->why,
				"this kernel has a set of these PMUs for each die, and that of %s "
				"counts the whole socket",
				repeated->name);
		else
			resolve(candidates->term, candidates->unit, candidates->topology, match);
	}
	return 0;
}

/* Cuts the first of @globs off; returns the rest, or NULL. */
static char *match_cut(char *globs)
{
	char *next = strstr(globs, separator);

	if (!next)
		return NULL;
	*next = '\0';
	return next + strlen(separator);
}

/* The last of the platform's @globs that @name fits, from 1; 0: none. */
static unsigned find_glob(const char *globs, const char *name)
{
	char copy[sizeof((struct platform *)0)->pmu_sockets];
	unsigned found = 0, number = 1;

	static_assert(sizeof copy >= sizeof((struct platform *)0)->pmu_per_socket, "both fit");
	strcpy(copy, globs);
	for (char *glob = copy, *next; glob; glob = next, number++) {
		next = match_cut(glob);
		if (!fnmatch(glob, name, 0))
			found = number;
	}
	return found;
}

void match_place(struct pmu_list *pmus, const struct platform *platform)
{
	for (unsigned i = 0; i < pmus->n; i++) {
		struct pmu *pmu = &pmus->pmus[i];
		unsigned place = find_glob(platform->pmu_sockets, pmu->name);

		pmu->is_per_socket = find_glob(platform->pmu_per_socket, pmu->name);
		if (*platform->pmu_sockets)
			pmu->place = place ? place : PMU_NO_PLACE;
	}
}

int match_term(const struct platform_term *term, const char *unit, const struct pmu_list *pmus,
	const struct topology *topology, struct match_list *ret)
{
	const struct candidates candidates = { term, unit, pmus, topology };
	char globs[sizeof term->pmu];
	struct match_list list = { 0 };

	strcpy(globs, term->pmu);
	for (char *glob = globs, *next; glob; glob = next) {
		next = match_cut(glob);
		if (match_glob(&candidates, glob, &list) < 0) {
			match_list_done(&list);
			return -ENOMEM;
		}
	}
	*ret = list;
	return 0;
}

void match_list_done(struct match_list *list)
{
	free(list->matches);
	*list = (struct match_list){ 0 };
}
