/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/report/samples.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/report/format.h"
#include "common/clock.h"
#include "common/macro.h"

/* The job is not watched while uncored does not answer. */
static const uint64_t PATIENCE_NS = 1000000000;
static const uint64_t STEP_NS = 50000000;

/* Longer would be felt in a job that ends at once. */
static const struct timespec MOMENT = { .tv_nsec = 20000000 };

static const char HELD[] =
	"The site holds readings back (min_interval_ms of uncored.conf), and the "
	"job would wait for them.";

enum { FAILURES_MAX = 3 };

static void swap(struct readout *one, struct readout *other)
{
	const struct readout swapped = *one;

	*one = *other;
	*other = swapped;
}

/* Into .now. */
static int read_now(struct samples *samples)
{
	const struct reader_wish wish = {
		.use = READER_DIFFERENCE,
		.deadline_ns = clock_deadline_ns(PATIENCE_NS),
	};
	int r = reader_take(&samples->reader, &wish, &samples->spare);

	if (r == 0)
		swap(&samples->now, &samples->spare);
	else
		snprintf(samples->failure, sizeof samples->failure, "%s", reader_failure(r));
	return r;
}

/* --- the course --- */

static uint32_t metric_bit(const struct samples *samples, const char *name)
{
	const int metric = uncore_find_metric(samples->reader.handle, name);

	return metric < 0 || samples->first.samples[0].values[metric].quality & UNCORE_ABSENT
		       ? 0
		       : 1U << metric;
}

/* DRAM, by its reads and writes or by their sum; HBM where there is no other memory. */
static void samples_choose(struct samples *samples)
{
	static const struct {
		const char *tier, *one, *other;
	} choices[] = {
		{ "dram", "dram.read", "dram.write" },
		{ "dram", "dram.total", "dram.total" },
		{ "hbm", "hbm.read", "hbm.write" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(choices) && !samples->tier; i++) {
		const uint32_t one = metric_bit(samples, choices[i].one);
		const uint32_t other = metric_bit(samples, choices[i].other);

		if (one && other) {
			samples->tier = choices[i].tier;
			samples->metrics = one | other;
		}
	}
}

/* False: one of the metrics is absent now. */
static bool samples_count_of(
	const struct samples *samples, const struct uncore_sample *sample, uint64_t *ret_sum)
{
	*ret_sum = 0;
	for (uint32_t m = 0; m < sample->n_values; m++) {
		if (!(samples->metrics >> m & 1))
			continue;
		if (sample->values[m].quality & UNCORE_ABSENT)
			return false;
		*ret_sum += sample->values[m].count;
	}
	return true;
}

/* The course goes from one whole reading to the next. */
static int samples_keep(struct samples *samples, const struct readout *readout)
{
	const uint32_t n_sockets = readout->n_sockets;
	uint64_t *counts = samples->counts + samples->n * n_sockets;

	for (uint32_t i = 0; i < n_sockets; i++)
		if (!samples_count_of(samples, &readout->samples[i], &counts[i]) ||
			(samples->n && counts[i] < counts[i - (ptrdiff_t)n_sockets])) {
			snprintf(samples->failure, sizeof samples->failure,
				"For a time socket %" PRIu32
				" had no count, or one below the last.",
				readout->samples[i].socket);
			return -ENODATA;
		}
	samples->times_ns[samples->n++] = readout_end_ns(readout);
	if (samples->n < SAMPLES_MAX)
		return 0;
	for (samples->n = 0; samples->n < SAMPLES_MAX / 2; samples->n++) {
		samples->times_ns[samples->n] = samples->times_ns[2 * samples->n];
		memcpy(samples->counts + samples->n * n_sockets,
			samples->counts + 2 * samples->n * n_sockets,
			n_sockets * sizeof *samples->counts);
	}
	samples->step_ns *= 2;
	return 0;
}

double samples_rate(const struct samples *samples, size_t i, uint32_t socket)
{
	const uint32_t n_sockets = samples->total.n_sockets;
	const uint64_t *counts = samples->counts + i * n_sockets + socket;

	return format_rate(
		counts[n_sockets] - counts[0], samples->times_ns[i + 1] - samples->times_ns[i]);
}

/* --- begin, take, end --- */

static int samples_make_room(struct samples *samples)
{
	const uint32_t n_sockets = samples->reader.machine.n_sockets;
	int r = total_init(&samples->total, n_sockets, NULL);

	if (r < 0)
		return r;
	total_add_tiers(&samples->total, samples->reader.handle);
	samples->times_ns = calloc(SAMPLES_MAX, sizeof *samples->times_ns);
	samples->counts = calloc((size_t)SAMPLES_MAX * n_sockets, sizeof *samples->counts);
	return samples->times_ns && samples->counts ? 0 : -ENOMEM;
}

/* What passes in a moment from .now on. */
static int measure_moment(struct samples *samples, struct total *ret)
{
	int r = total_init_like(ret, &samples->total);

	if (r < 0 || !samples->has_moments)
		return r;
	swap(&samples->first, &samples->now);
	nanosleep(&MOMENT, NULL);
	r = read_now(samples);
	return r < 0 ? r : total_add_interval(ret, &samples->first, &samples->now);
}

static int samples_begin_now(struct samples *samples)
{
	struct uncore_daemon daemon = UNCORE_DAEMON_INIT;
	int r = samples_make_room(samples);

	if (r < 0)
		return r;
	uncore_describe_daemon(samples->reader.handle, &daemon);
	if (daemon.min_interval_ns)
		return -EBUSY;
	samples->step_ns = STEP_NS;
	/* What a site rounds is coarse within a moment. */
	samples->has_moments = daemon.quantum <= 1;
	r = read_now(samples);
	return r < 0 ? r : measure_moment(samples, &samples->before);
}

void samples_begin(struct samples *samples)
{
	int r = reader_open(&samples->reader, PATIENCE_NS);

	if (r == 0)
		r = samples_begin_now(samples);
	if (r < 0) {
		snprintf(samples->failure, sizeof samples->failure, "%s",
			r == -EBUSY ? HELD : reader_failure(r));
		return;
	}
	swap(&samples->first, &samples->now);
	samples_choose(samples);
	if (samples_keep(samples, &samples->first) < 0)
		return;
	samples->next_ns = clock_now_ns() + samples->step_ns;
}

void samples_take(struct samples *samples)
{
	if (clock_now_ns() < samples->next_ns)
		return;
	if (read_now(samples) < 0 || samples_keep(samples, &samples->now) < 0)
		samples->n_failures++;
	samples->next_ns = samples->n_failures < FAILURES_MAX
				   ? clock_next_tick_ns(samples->next_ns, samples->step_ns)
				   : UINT64_MAX;
}

void samples_end(struct samples *samples)
{
	int r;

	if (!samples->n)
		return;
	r = read_now(samples);
	if (r == 0)
		samples_keep(samples, &samples->now);
	if (samples->n < 2)
		return;
	if (total_add_interval(&samples->total, &samples->first, &samples->now) == 0 && r == 0)
		measure_moment(samples, &samples->after);
}

bool samples_have_course(const struct samples *samples)
{
	return samples->n > SAMPLES_LEAST;
}

void samples_done(struct samples *samples)
{
	free(take_ptr(samples->times_ns));
	free(take_ptr(samples->counts));
	total_done(&samples->total);
	total_done(&samples->before);
	total_done(&samples->after);
	readout_done(&samples->first);
	readout_done(&samples->now);
	readout_done(&samples->spare);
	reader_close(&samples->reader);
}
