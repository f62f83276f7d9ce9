/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/measure/measure.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/bounds.h"
#include "common/clock.h"
#include "common/macro.h"

enum {
	REPETITIONS_MAX = 200,
	REPETITIONS_MIN = 5,
	REPETITIONS_LATE = 3, /* when the time is over */
	PASSES_MAX = 100000,
	REST_WINDOWS = 10,
	QUANTA = 200, /* that a repetition moves, so that rounding is below half a percent */
};

static const uint64_t WINDOW_NS = 50000000;
static const uint64_t IDLE_NS_MAX = 500000000;
/* POWER9's counters are posted every 4 ms, and later where its controller is busy. */
static const uint64_t SETTLE_NS = 10000000;
/* Counts that come later than this are not known of any machine. */
static const uint64_t LATE_NS = 1000000000;
static const double ERROR_BESIDE_OTHERS = 2; /* times that of the rules */
/* Others that move less than this share of what is predicted are not late counts of the
 * kernel's own, even where the counters show so little that others are noticed. */
static const double LATE_LEAST = 0.02;

/* Bytes of each series, and the ns in which they were moved. */
struct amounts {
	double *bytes, *ns;
};

/* A measurement in progress, and what others moved meanwhile. */
struct course {
	struct probe *probe;
	const struct measure_rules *rules;
	struct workers *workers;
	unsigned n_passes; /* of a repetition */
	uint64_t idle_ns;
	struct readout before, begin, end;  /* where idling begins, passes begin, passes end */
	double *numbers;                    /* the memory of the pointers below */
	struct amounts idle, busy;          /* of a repetition, before and in its passes */
	struct amounts pauses, passes;      /* of all repetitions */
	double *others;                     /* bytes beside the passes of a repetition */
	double *net;                        /* [repetition][series] */
	double background[REPETITIONS_MAX]; /* bytes of others */
	double best_ns;
	uint64_t deadline_ns;
	uint64_t moved; /* pages that Linux had moved by the last repetition */
};

/* The metric of @like's socket with the largest of the @values; of all sockets where it is
 * PROBE_NONE. */
static uint32_t find_most(const struct probe *probe, const double values[], uint32_t like)
{
	uint32_t most = PROBE_NONE;

	for (uint32_t i = 0; i < probe->n_series && !probe->series[i].is_channel; i++)
		if ((like == PROBE_NONE || probe->series[i].socket == probe->series[like].socket) &&
			(most == PROBE_NONE || values[i] > values[most]))
			most = i;
	return most;
}

/* --- pages that Linux moves --- */

/* When Linux copies pages, that traffic is counted, too, and cannot be told from the kernel's own.
 * proc(5), /proc/vmstat. */
static uint64_t pages_moved(void)
{
	static const char *const keys[] = { "thp_collapse_alloc", "thp_split_page",
		"numa_pages_migrated", "pgmigrate_success", "pswpin", "pswpout" };
	_cleanup_file_ FILE *file = fopen("/proc/vmstat", "re");
	unsigned long long n, sum = 0;
	char key[64];

	while (file && fscanf(file, "%63s %llu", key, &n) == 2)
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
			sum += strcmp(key, keys[i]) == 0 ? n : 0;
	return sum;
}

/* --- one repetition --- */

static void course_sleep(uint64_t ns)
{
	struct timespec rest = clock_timespec(ns);

	while (nanosleep(&rest, &rest) < 0 && errno == EINTR)
		;
}

/* Subtracts what others move while the passes run, by what they moved before. Returns the most of
 * a metric of the socket that shows most: a program that only writes does not show in what the
 * kernel reads. */
static double subtract_background(const struct course *course, double ret_net[])
{
	const struct probe *probe = course->probe;
	const struct amounts *idle = &course->idle, *busy = &course->busy;

	for (uint32_t i = 0; i < probe->n_series; i++) {
		course->others[i] =
			idle->ns[i] > 0 ? idle->bytes[i] * busy->ns[i] / idle->ns[i] : 0;
		ret_net[i] = busy->bytes[i] - course->others[i];
	}
	return course
		->others[find_most(probe, course->others, find_most(probe, ret_net, PROBE_NONE))];
}

static void run_passes(struct course *course)
{
	uint64_t begin_ns = clock_now_ns();

	workers_run(course->workers, course->n_passes);
	course->best_ns = fmin(course->best_ns, (double)(clock_now_ns() - begin_ns));
}

static void add(const struct course *course, struct amounts *sum, const struct amounts *amounts)
{
	for (uint32_t i = 0; i < course->probe->n_series; i++) {
		sum->bytes[i] += amounts->bytes[i];
		sum->ns[i] += amounts->ns[i];
	}
}

static int take_delta(const struct course *course, const struct readout *from,
	const struct readout *to, struct amounts *ret)
{
	return probe_delta(course->probe, from, to, ret->bytes, ret->ns);
}

/* The idle window begins with the reading at the end of the previous passes. */
static int repeat(struct course *course, unsigned n, bool *ret_dropped)
{
	struct probe *probe = course->probe;
	struct readout spare = course->before;
	uint64_t moved = course->moved;
	int r;

	course->before = course->end;
	course->end = spare;
	course_sleep(course->idle_ns);
	r = probe_take(probe, &course->begin);
	if (r < 0)
		return r;
	run_passes(course);
	course_sleep(SETTLE_NS);
	r = probe_take(probe, &course->end);
	if (r == 0)
		r = take_delta(course, &course->before, &course->begin, &course->idle);
	if (r == 0)
		r = take_delta(course, &course->begin, &course->end, &course->busy);
	if (r < 0)
		return r;
	course->background[n] =
		subtract_background(course, course->net + (size_t)n * probe->n_series);
	course->moved = pages_moved();
	*ret_dropped = course->moved != moved;
	if (!*ret_dropped) {
		add(course, &course->pauses, &course->idle);
		add(course, &course->passes, &course->busy);
	}
	return 0;
}

/* --- all repetitions --- */

static unsigned passes_for(double bytes, double pass_ns, const struct measure_rules *rules)
{
	double for_time = (double)WINDOW_NS / (pass_ns + 1);
	double for_rounding = rules->quantum > 1 ? QUANTA * rules->quantum / (bytes + 1) : 0;

	return (unsigned)fmin(PASSES_MAX, ceil(fmax(for_time, for_rounding)));
}

/* The first pass fills the caches with what the kernel itself leaves there; the second is timed. */
static void plan_repetitions(struct course *course, struct measured *ret)
{
	struct kernel_traffic pass = workers_predict(course->workers);
	uint64_t begin_ns, pass_ns;

	workers_run(course->workers, 1);
	begin_ns = clock_now_ns();
	workers_run(course->workers, 1);
	pass_ns = clock_now_ns() - begin_ns;
	course->n_passes = passes_for(pass.read + pass.written, (double)pass_ns, course->rules);
	course->idle_ns = least_of(pass_ns * course->n_passes, IDLE_NS_MAX);
	course->best_ns = (double)pass_ns * course->n_passes;
	ret->predicted = (struct kernel_traffic){
		.read = pass.read * course->n_passes,
		.allocated = pass.allocated * course->n_passes,
		.written = pass.written * course->n_passes,
	};
}

/* Finds the medians so far, and the largest error of a metric of the kernel's socket. */
static void evaluate(const struct course *course, struct measured *ret)
{
	const struct probe *probe = course->probe;
	double whole, values[REPETITIONS_MAX];
	uint32_t largest;

	for (uint32_t i = 0; i < probe->n_series; i++) {
		for (unsigned k = 0; k < ret->n; k++)
			values[k] = course->net[(size_t)k * probe->n_series + i];
		ret->bytes[i] = statistics_median(values, ret->n, &ret->errors[i]);
	}
	largest = find_most(probe, ret->bytes, PROBE_NONE);
	whole = measured_whole(ret, ret->bytes[largest]);
	memcpy(values, course->background, ret->n * sizeof *values);
	ret->background = statistics_median(values, ret->n, NULL) / whole;
	ret->error = ret->errors[find_most(probe, ret->errors, largest)] / whole;
	ret->best_ns = course->best_ns;
	ret->is_known = ret->error <= course->rules->error;
}

static bool is_enough(const struct course *course, const struct measured *found)
{
	if (found->n + found->n_dropped >= REPETITIONS_MAX)
		return true;
	if (clock_now_ns() >= course->deadline_ns)
		return found->n >= REPETITIONS_LATE || found->n_dropped >= REPETITIONS_LATE;
	return found->n >= REPETITIONS_MIN && found->is_known;
}

static int repeat_until_known(struct course *course, struct measured *ret)
{
	while (!is_enough(course, ret)) {
		bool dropped = false;
		int r;

		if (*course->rules->stop)
			return -EINTR;
		r = repeat(course, ret->n, &dropped);
		if (r < 0)
			return r;
		ret->n += !dropped;
		ret->n_dropped += dropped;
		if (ret->n)
			evaluate(course, ret);
	}
	return 0;
}

/* --- at the end --- */

static void note_others(const struct course *course, struct measured *ret)
{
	const struct amounts *pauses = &course->pauses;

	for (uint32_t i = 0; i < course->probe->n_series; i++)
		if (pauses->ns[i] > 0)
			ret->others[i] =
				pauses->bytes[i] / pauses->ns[i] * course->passes.ns[i] / ret->n;
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
		r = rest(course, least_of(window_ns, LATE_NS));
	if (r == 0)
		r = probe_take(course->probe, &course->end);
	if (r == 0)
		r = take_delta(course, &course->begin, &course->end, &course->idle);
	return r;
}

/* Counts of the kernel's own that come late look like traffic of others between its repetitions. A
 * while after the last one there are none. */
static int look_at_rest(struct course *course, struct measured *ret)
{
	const struct amounts *pauses = &course->pauses, *idle = &course->idle;
	const uint32_t largest = find_most(course->probe, ret->bytes, PROBE_NONE);
	const uint32_t busiest = find_most(course->probe, pauses->bytes, largest);
	const double whole = measured_whole(ret, ret->bytes[largest]);
	double before;
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
	before = pauses->bytes[busiest] * idle->ns[busiest];
	ret->at_rest =
		before > 0 ? ret->at_rest * idle->bytes[busiest] * pauses->ns[busiest] / before : 0;
	return 0;
}

/* --- a course's memory --- */

static void measure_course_done(struct course *course)
{
	workers_done(&course->workers);
	readout_done(&course->before);
	readout_done(&course->begin);
	readout_done(&course->end);
	free(course->numbers);
}

static int course_new(struct probe *probe, struct course *ret)
{
	double **const arrays[] = { &ret->idle.bytes, &ret->idle.ns, &ret->busy.bytes,
		&ret->busy.ns, &ret->pauses.bytes, &ret->pauses.ns, &ret->passes.bytes,
		&ret->passes.ns, &ret->others, &ret->net };

	ret->numbers = calloc(
		(size_t)probe->n_series * (REPETITIONS_MAX + ARRAY_SIZE(arrays)), sizeof(double));
	for (size_t i = 0; ret->numbers && i < ARRAY_SIZE(arrays); i++)
		*arrays[i] = ret->numbers + i * probe->n_series;
	return ret->numbers ? 0 : -ENOMEM;
}

int measure(struct probe *probe, const struct workers_job *job, const struct measure_rules *rules,
	struct measured *ret)
{
	_cleanup_(measure_course_done) struct course course = { .probe = probe, .rules = rules };
	int r = course_new(probe, &course);

	*ret = (struct measured){ .kernel = job->kernel, .n_threads = job->n_threads };
	if (r < 0)
		return r;
	ret->bytes = calloc(3 * (size_t)probe->n_series, sizeof *ret->bytes);
	if (!ret->bytes)
		return -ENOMEM;
	ret->errors = ret->bytes + probe->n_series;
	ret->others = ret->errors + probe->n_series;
	r = workers_start(job, &course.workers);
	if (r < 0)
		return r;
	plan_repetitions(&course, ret);
	course.deadline_ns = clock_now_ns() + (uint64_t)(rules->time_s * 1e9);
	course.moved = pages_moved();
	course_sleep(SETTLE_NS);
	r = probe_take(probe, &course.end);
	if (r == 0)
		r = repeat_until_known(&course, ret);
	return r < 0 ? r : look_at_rest(&course, ret);
}
