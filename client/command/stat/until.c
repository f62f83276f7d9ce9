/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/stat/until.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "client/report/format.h"
#include "common/unit.h"

void until_init(struct until *ret, double percent, const struct uncore *handle)
{
	const char *name;

	*ret = (struct until){ .percent = percent };
	while (ret->n_metrics < UNCORE_METRICS_MAX &&
		(name = uncore_metric_name(handle, ret->n_metrics))) {
		struct until_metric *metric = &ret->metrics[ret->n_metrics];

		snprintf(metric->name, sizeof metric->name, "%s", name);
		metric->is_bytes = unit_is_bytes(uncore_metric_unit(handle, ret->n_metrics));
		ret->n_metrics++;
	}
}

/* --- judging --- */

static const struct total_value *until_value_of(const struct total *total, uint32_t metric)
{
	return &total->sockets[total->n_sockets].values[metric];
}

static bool until_is_ignored(const struct until *until, const struct total *total, uint32_t i)
{
	const struct until_metric *metric = &until->metrics[i];
	const struct total_value *value = until_value_of(total, i);

	return total->left_out >> i & 1 || !metric->is_bytes || value->quality & UNCORE_ABSENT ||
	       format_is_check(metric->name);
}

static double largest_mean(const struct until *until, const struct total *total)
{
	double largest = 0;

	for (uint32_t i = 0; i < until->n_metrics; i++) {
		if (!until_is_ignored(until, total, i))
			largest = fmax(largest, until_value_of(total, i)->mean);
	}
	return largest;
}

/* NaN: one run has no error. If the mean is 0, all counts were 0, and so is the error. */
static double until_error_of(const struct total_value *value, uint32_t runs)
{
	if (runs < 2)
		return NAN;
	if (value->mean <= 0)
		return 0;
	return 100 * sqrt(value->squares / (runs - 1) / runs) / value->mean;
}

bool until_judge(struct until *until, const struct total *total)
{
	double least = UNTIL_SHARE * largest_mean(until, total);
	bool are_many = total->runs >= UNTIL_RUNS_MIN;
	bool enough = are_many;

	until->runs = total->runs;
	for (uint32_t i = 0; total->runs && i < until->n_metrics; i++) {
		const struct total_value *value = until_value_of(total, i);
		struct until_metric *metric = &until->metrics[i];

		metric->error = until_error_of(value, total->runs);
		if (until_is_ignored(until, total, i))
			metric->state = UNTIL_IGNORED;
		else if (value->mean < least)
			metric->state = UNTIL_LEFT_OUT;
		else if (are_many && metric->error < until->percent)
			metric->state = UNTIL_BELOW;
		else
			metric->state = UNTIL_ABOVE;
		enough &= metric->state != UNTIL_ABOVE;
	}
	until->is_reached = enough;
	return enough;
}

const struct until_metric *until_worst(const struct until *until)
{
	const struct until_metric *worst = NULL;

	for (uint32_t i = 0; i < until->n_metrics; i++) {
		const struct until_metric *metric = &until->metrics[i];

		if ((metric->state == UNTIL_ABOVE || metric->state == UNTIL_BELOW) &&
			(!worst || metric->error > worst->error))
			worst = metric;
	}
	return worst;
}

/* --- telling --- */

static uint32_t until_count(const struct until *until, enum until_state state)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < until->n_metrics; i++)
		n += until->metrics[i].state == state;
	return n;
}

/* Writes two digits, or all digits of a larger number. */
static void write_error(FILE *out, double error)
{
	fprintf(out, error < 10 ? "%.2g %%" : "%.0f %%", error);
}

/* Writes "dram.read (2.3 %), itom (4 %)". */
static void until_list(const struct until *until, enum until_state state, FILE *out)
{
	const char *before = "";

	for (uint32_t i = 0; i < until->n_metrics; i++) {
		const struct until_metric *metric = &until->metrics[i];

		if (metric->state != state)
			continue;
		fprintf(out, "%s%s (", before, metric->name);
		write_error(out, metric->error);
		fputc(')', out);
		before = ", ";
	}
}

void until_tell(const struct until *until, FILE *out, const char *indent)
{
	const struct until_metric *worst = until_worst(until);

	if (until->runs < UNTIL_RUNS_MIN) {
		fprintf(out,
			"%sRuns that were measured: %" PRIu32
			", too few to judge a standard error; it needs %d.\n",
			indent, until->runs, UNTIL_RUNS_MIN);
		return;
	}
	fprintf(out, "%sAfter %" PRIu32 " runs the standard error of the mean is ", indent,
		until->runs);
	if (until_count(until, UNTIL_ABOVE)) {
		fprintf(out, "not below %g %% for ", until->percent);
		until_list(until, UNTIL_ABOVE, out);
	} else {
		fprintf(out, "below %g %% for every metric", until->percent);
		if (worst) {
			fprintf(out, "; the largest is that of %s, ", worst->name);
			write_error(out, worst->error);
		}
	}
	fprintf(out, ".\n");
	if (!until_count(until, UNTIL_LEFT_OUT))
		return;
	fprintf(out, "%sLeft out, as below %g %% of the largest metric: ", indent,
		100 * UNTIL_SHARE);
	until_list(until, UNTIL_LEFT_OUT, out);
	fprintf(out, ".\n");
}
