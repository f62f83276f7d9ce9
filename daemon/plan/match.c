/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A driver may leave a socket that lacks a box out of the PMU's cpumask (Intel since kernel 6.12),
 * or register one PMU per box of the whole machine (AMD). So it is not an error if a socket has no
 * box of some PMU, provided that the cpumask is known and the topology has all its CPUs.
 */
#include "daemon/plan/match.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"

static const char separator[] = " | ";

static int socket_of(const struct topology *topology, int cpu)
{
	return (unsigned)cpu < topology->n_cpus ? topology->socket_of_cpu[cpu] : TOPOLOGY_OFFLINE;
}

static bool first_of_die(const struct pmu *pmu, const struct topology *topology, int cpu)
{
	int earlier;

	for (earlier = hwloc_bitmap_first(pmu->cpumask); earlier >= 0 && earlier < cpu;
		earlier = hwloc_bitmap_next(pmu->cpumask, earlier))
		if (socket_of(topology, earlier) >= 0 &&
			topology->die_of_cpu[earlier] == topology->die_of_cpu[cpu])
			return false;
	return true;
}

int match_next_cpu(const struct pmu *pmu, const struct topology *topology, unsigned socket, int cpu)
{
	if (!pmu->cpumask)
		return -1;
	while ((cpu = hwloc_bitmap_next(pmu->cpumask, cpu)) >= 0)
		if (socket_of(topology, cpu) == (int)socket && first_of_die(pmu, topology, cpu))
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
static int find_cpu(const struct pmu *pmu, const struct topology *topology, int place)
{
	int cpu = hwloc_bitmap_first(pmu->cpumask);

	while (cpu >= 0 && socket_of(topology, cpu) != place)
		cpu = hwloc_bitmap_next(pmu->cpumask, cpu);
	return cpu;
}

static bool has_place(const struct pmu *pmu, const struct topology *topology)
{
	return pmu->cpumask && most_boxes(pmu, topology);
}

unsigned match_n_lost(const struct match *match, const struct topology *topology, unsigned socket,
	char ret_why[PAGE_TEXT_MAX])
{
	const struct pmu *pmu = match->pmu;
	unsigned n = pmu->cpumask ? n_boxes(pmu, topology, socket) : 0, most;
	int stray;

	memcpy(ret_why, match->why, PAGE_TEXT_MAX);
	if (!pmu->cpumask || hwloc_bitmap_iszero(pmu->cpumask))
		return 1;
	if (n && !match->usable)
		return n;
	stray = find_cpu(pmu, topology, TOPOLOGY_NOWHERE);
	if (stray >= 0) {
		snprintf(ret_why, PAGE_TEXT_MAX,
			"the cpumask of %s names CPU %d, whose socket is not known", pmu->name,
			stray);
		return 1;
	}
	most = most_boxes(pmu, topology);
	if (n && n < most) {
		snprintf(ret_why, PAGE_TEXT_MAX,
			"%s counts on %u of the %u dies that another socket has: the others are "
			"offline",
			pmu->name, n, most);
		return most - n;
	}
	if (n || find_cpu(pmu, topology, TOPOLOGY_OFFLINE) < 0)
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
	if (!has_place(pmu, topology)) {
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

static bool named(const struct pmu *pmu, const char *glob, size_t length)
{
	char one[sizeof((struct platform_term *)0)->pmu];

	snprintf(one, sizeof one, "%.*s", (int)length, glob);
	return fnmatch(one, pmu->name, 0) == 0;
}

static unsigned count_named(const struct pmu_list *pmus, const char *glob, size_t length)
{
	unsigned n = 0;

	for (unsigned i = 0; i < pmus->n; i++)
		if (named(&pmus->pmus[i], glob, length))
			n++;
	return n;
}

int match_term(const struct platform_term *term, const char *unit, const struct pmu_list *pmus,
	const struct topology *topology, struct match_list *ret)
{
	struct match_list list = { 0 };
	const char *glob = term->pmu, *end;
	size_t length;
	unsigned n;

	for (;; glob = end + strlen(separator)) {
		end = strstr(glob, separator);
		length = end ? (size_t)(end - glob) : strlen(glob);
		n = count_named(pmus, glob, length);
		if (n || !end)
			break;
	}
	list.matches = calloc(n ? n : 1, sizeof *list.matches);
	if (!list.matches)
		return -ENOMEM;
	for (unsigned i = 0; i < pmus->n && list.n < n; i++) {
		if (!named(&pmus->pmus[i], glob, length))
			continue;
		list.matches[list.n].pmu = &pmus->pmus[i];
		resolve(term, unit, topology, &list.matches[list.n++]);
	}
	*ret = list;
	return 0;
}

void match_list_done(struct match_list *list)
{
	free(list->matches);
	*list = (struct match_list){ 0 };
}
