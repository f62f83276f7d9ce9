/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/top/course.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"
#include "common/tiers.h"

static const uint64_t NS_PER_S = 1000000000;

#define TIER(name) name

bool tier_find(const struct format_socket *socket, unsigned number, struct tier *ret)
{
	static const char *const names[COURSE_TIERS] = { TIERS(TIER) };
	const char *name = names[number];

	*ret = (struct tier){ name, format_find_of(socket, name, "read"),
		format_find_of(socket, name, "write"), format_find_of(socket, name, "total") };
	return ret->reads || ret->writes || ret->both;
}

double tier_rate(const struct format_value *value)
{
	return !value || value->quality & UNCORE_ABSENT ? NAN : value->rate;
}

static void top_course_begin(struct course *course)
{
	*course = (struct course){ .peak = 0 };
	for (unsigned k = 0; k < COURSE_TIERS; k++)
		for (unsigned s = 0; s < COURSE_SECONDS; s++)
			course->tiers[k].minute[s] = NAN;
}

int courses_resize(struct courses *courses, uint32_t n_sockets, uint32_t n_parts)
{
	const uint32_t n_kept = courses->n_sockets == n_sockets ? n_sockets : 0;
	struct course *all =
		reallocarray(courses->all, n_sockets + n_parts + 1, sizeof *courses->all);

	if (!all)
		return -ENOMEM;
	*courses = (struct courses){ n_sockets, n_sockets + n_parts, courses->second, all };
	for (uint32_t i = n_kept; i < courses->n; i++)
		top_course_begin(&all[i]);
	return 0;
}

void courses_done(struct courses *courses)
{
	free(take_ptr(courses->all));
}

/* @n seconds have passed. */
static void shift(struct course_tier *tier, uint64_t n)
{
	const unsigned left = n < COURSE_SECONDS ? COURSE_SECONDS - (unsigned)n : 0;

	memmove(tier->minute, tier->minute + COURSE_SECONDS - left, left * sizeof *tier->minute);
	for (unsigned s = left; s < COURSE_SECONDS; s++)
		tier->minute[s] = NAN;
}

/* @n_before: seconds that the interval covers before the last one. */
static void top_course_add(struct course_tier *tier, double rate, uint64_t n_before)
{
	for (unsigned s = 0; !isnan(rate) && s < COURSE_SECONDS && s <= n_before; s++) {
		float *second = &tier->minute[COURSE_SECONDS - 1 - s];

		*second = fmaxf(*second, (float)rate);
	}
	tier->highest = fmax(tier->highest, rate);
}

/* Bars of sockets have one measure, and so have those of parts: they can be compared. */
static void set_full(struct courses *courses, uint32_t first, uint32_t end, unsigned number)
{
	double highest = 0;

	for (uint32_t i = first; i < end; i++)
		highest = fmax(highest, courses->all[i].tiers[number].highest);
	for (uint32_t i = first; i < end; i++) {
		struct course_tier *tier = &courses->all[i].tiers[number];

		tier->is_peak = !number && courses->all[i].peak > 0;
		tier->full = tier->is_peak ? courses->all[i].peak : highest;
	}
}

void courses_add(struct courses *courses, const struct format_socket shown[], uint64_t begin_ns,
	uint64_t end_ns)
{
	const uint64_t second = end_ns / NS_PER_S, n_before = second - begin_ns / NS_PER_S;
	struct tier tier;

	for (unsigned k = 0; k < COURSE_TIERS; k++) {
		for (uint32_t i = 0; i < courses->n; i++) {
			tier_find(&shown[i], k, &tier);
			shift(&courses->all[i].tiers[k], second - courses->second);
			top_course_add(&courses->all[i].tiers[k], tier_rate(tier.both), n_before);
		}
		set_full(courses, 0, courses->n_sockets, k);
		set_full(courses, courses->n_sockets, courses->n, k);
	}
	courses->second = second;
}
