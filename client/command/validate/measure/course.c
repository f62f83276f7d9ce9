/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/measure/course.h"

#include <errno.h>
#include <math.h>
#include <time.h>

enum { REST_WINDOWS = 10 };

/* Counts that come later than this are not known of any machine. */
static const uint64_t LATE_NS = 1000000000;
static const double ERROR_BESIDE_OTHERS = 2; /* times that of the rules */
/* Others that move less than this share of what is predicted are not late counts of the
 * kernel's own, even where the counters show so little that others are noticed. */
static const double LATE_LEAST = 0.02;

void course_sleep(uint64_t ns)
{
	struct timespec rest = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	while (nanosleep(&rest, &rest) < 0 && errno == EINTR)
		;
}

uint32_t course_largest(const struct course *course, const struct measured *measured)
{
	uint32_t largest = 0;

	for (uint32_t i = 1; i < course->probe->n_series; i++)
		if (!course->probe->series[i].is_channel &&
			measured->bytes[i] > measured->bytes[largest])
			largest = i;
	return largest;
}

static void note_others(const struct course *course, struct measured *ret)
{
	const struct probe *probe = course->probe;

	for (uint32_t i = 0; i < probe->n_series && ret->n; i++) {
		const uint32_t socket = probe->series[i].socket;

		if (course->pauses_window[socket] > 0)
			ret->others[i] = course->pauses[i] / course->pauses_window[socket] *
					 course->kernels_window[socket] / ret->n;
	}
}

/* The metric of @socket that others move most of. */
static uint32_t busiest_series(const struct course *course, uint32_t socket)
{
	const struct probe *probe = course->probe;
	uint32_t busiest = PROBE_NONE;

	for (uint32_t i = 0; i < probe->n_series; i++)
		if (!probe->series[i].is_channel && probe->series[i].socket == socket &&
			(busiest == PROBE_NONE || course->pauses[i] > course->pauses[busiest]))
			busiest = i;
	return busiest;
}

static int rest(const struct course *course, uint64_t ns)
{
	course_sleep(ns);
	return *course->rules->stop ? -EINTR : 0;
}

/* Reads what others move while the kernel rests, a while after its last pass. */
static int read_at_rest(struct course *course)
{
	uint64_t window_ns = REST_WINDOWS * course->idle_ns;
	int r = rest(course, LATE_NS);

	if (r == 0)
		r = probe_take(course->probe, &course->begin);
	if (r == 0)
		r = rest(course, window_ns < LATE_NS ? window_ns : LATE_NS);
	if (r == 0)
		r = probe_take(course->probe, &course->end);
	if (r == 0)
		r = probe_delta(course->probe, &course->begin, &course->end, course->idle,
			course->idle_window);
	return r;
}

/* Counts of the kernel's own that come late look like traffic of others between its repetitions. A
 * while after the last one there are none. */
int course_look_at_rest(struct course *course, struct measured *ret)
{
	const uint32_t largest = course_largest(course, ret);
	const uint32_t socket = course->probe->series[largest].socket;
	const uint32_t busiest = busiest_series(course, socket);
	const double whole = measured_whole(ret, ret->bytes[largest]);
	double now, before;
	int r;

	note_others(course, ret);
	/* A program that moves something in less than half of the pauses has a median of 0. */
	if (!ret->is_known)
		ret->background = fmax(ret->background, ret->others[busiest] / whole);
	ret->at_rest = ret->background;
	if (!measured_notices_others(ret) || !ret->kernel->is_judged)
		return 0;
	ret->is_known |= ret->error <= ERROR_BESIDE_OTHERS * course->rules->error;
	if (fabs(ret->background) * whole < LATE_LEAST * measured_total(ret))
		return 0;
	r = read_at_rest(course);
	if (r < 0)
		return r;
	now = course->idle[busiest] * course->pauses_window[socket];
	before = course->pauses[busiest] * course->idle_window[socket];
	ret->at_rest = before > 0 ? ret->at_rest * now / before : 0;
	return 0;
}
