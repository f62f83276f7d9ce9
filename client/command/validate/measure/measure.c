/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/measure/measure.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/command/validate/measure/course.h"
#include "common/clock.h"
#include "common/macro.h"

enum {
	REPETITIONS_MIN = 5,
	REPETITIONS_LATE = 3, /* when the time is over */
	PASSES_MAX = 100000,
	QUANTA = 200, /* that a repetition moves, so that rounding is below half a percent */
};

static const uint64_t WINDOW_NS = 50000000;
static const uint64_t IDLE_NS_MAX = 500000000;
/* POWER9's counters are posted every 4 ms, and later where its controller is busy. */
static const uint64_t SETTLE_NS = 10000000;

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

/* What others move while the passes run, by what they moved before. */
static double others_of(const struct course *course, uint32_t series)
{
	const uint32_t socket = course->probe->series[series].socket;
	const double idle_ns = course->idle_window[socket];

	return idle_ns > 0 ? course->idle[series] * course->busy_window[socket] / idle_ns : 0;
}

/* Subtracts that. Returns the most of a metric of the socket that shows most: a program that only
 * writes does not show in what the kernel reads. */
static double subtract_background(const struct course *course, double ret_net[])
{
	const struct probe *probe = course->probe;
	double most = 0, background = 0;
	uint32_t socket = 0;

	for (uint32_t i = 0; i < probe->n_series; i++) {
		ret_net[i] = course->busy[i] - others_of(course, i);
		if (!probe->series[i].is_channel && ret_net[i] > most) {
			most = ret_net[i];
			socket = probe->series[i].socket;
		}
	}
	for (uint32_t i = 0; i < probe->n_series; i++)
		if (!probe->series[i].is_channel && probe->series[i].socket == socket)
			background = fmax(background, others_of(course, i));
	return background;
}

static void run_passes(struct course *course)
{
	uint64_t begin_ns = clock_now_ns();

	workers_run(course->workers, course->n_passes);
	course->best_ns = fmin(course->best_ns, (double)(clock_now_ns() - begin_ns));
}

static void add_pause(struct course *course)
{
	for (uint32_t i = 0; i < course->probe->n_series; i++)
		course->pauses[i] += course->idle[i];
	for (uint32_t i = 0; i < course->probe->reader.machine.n_sockets; i++) {
		course->pauses_window[i] += course->idle_window[i];
		course->kernels_window[i] += course->busy_window[i];
	}
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
		r = probe_delta(
			probe, &course->before, &course->begin, course->idle, course->idle_window);
	if (r == 0)
		r = probe_delta(
			probe, &course->begin, &course->end, course->busy, course->busy_window);
	if (r < 0)
		return r;
	course->background[n] =
		subtract_background(course, course->net + (size_t)n * probe->n_series);
	course->moved = pages_moved();
	*ret_dropped = course->moved != moved;
	if (!*ret_dropped)
		add_pause(course);
	return 0;
}

/* --- all repetitions --- */

static unsigned passes_for(double bytes, double pass_ns, const struct measure_rules *rules)
{
	double for_time = (double)WINDOW_NS / (pass_ns + 1);
	double for_rounding = rules->quantum > 1 ? QUANTA * rules->quantum / (bytes + 1) : 0;
	double n = ceil(for_time > for_rounding ? for_time : for_rounding);

	return n > PASSES_MAX ? PASSES_MAX : (unsigned)n;
}

static double total_of(const struct kernel_traffic *traffic)
{
	return traffic->read + traffic->written;
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
	course->n_passes = passes_for(total_of(&pass), (double)pass_ns, course->rules);
	course->idle_ns = pass_ns * course->n_passes;
	if (course->idle_ns > IDLE_NS_MAX)
		course->idle_ns = IDLE_NS_MAX;
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
	uint32_t n_series = course->probe->n_series, socket, largest;
	double errors_most = 0, values[REPETITIONS_MAX];

	for (uint32_t i = 0; i < n_series; i++) {
		for (unsigned k = 0; k < ret->n; k++)
			values[k] = course->net[(size_t)k * n_series + i];
		ret->bytes[i] = statistics_median(values, ret->n, &ret->errors[i]);
	}
	largest = course_largest(course, ret);
	socket = course->probe->series[largest].socket;
	for (uint32_t i = 0; i < n_series; i++)
		if (!course->probe->series[i].is_channel &&
			course->probe->series[i].socket == socket)
			errors_most = fmax(errors_most, ret->errors[i]);
	memcpy(values, course->background, ret->n * sizeof *values);
	ret->background =
		statistics_median(values, ret->n, NULL) / measured_whole(ret, ret->bytes[largest]);
	ret->error = errors_most / measured_whole(ret, ret->bytes[largest]);
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

/* --- a course's memory --- */

static void course_done(struct course *course)
{
	workers_done(&course->workers);
	readout_done(&course->before);
	readout_done(&course->begin);
	readout_done(&course->end);
	free(course->numbers);
}

static int course_new(struct probe *probe, struct course *ret)
{
	uint32_t n = probe->n_series, n_sockets = probe->reader.machine.n_sockets;

	ret->numbers =
		calloc((size_t)n * (REPETITIONS_MAX + 3) + 4 * (size_t)n_sockets, sizeof(double));
	if (!ret->numbers)
		return -ENOMEM;
	ret->idle = ret->numbers;
	ret->busy = ret->idle + n;
	ret->idle_window = ret->busy + n;
	ret->busy_window = ret->idle_window + n_sockets;
	ret->pauses = ret->busy_window + n_sockets;
	ret->pauses_window = ret->pauses + n;
	ret->kernels_window = ret->pauses_window + n_sockets;
	ret->net = ret->kernels_window + n_sockets;
	return 0;
}

int measure(struct probe *probe, const struct workers_job *job, const struct measure_rules *rules,
	struct measured *ret)
{
	_cleanup_(course_done) struct course course = { .probe = probe, .rules = rules };
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
	return r < 0 ? r : course_look_at_rest(&course, ret);
}
