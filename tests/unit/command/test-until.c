/* SPDX-License-Identifier: BSD-3-Clause */
/* When `uncore stat --until` has seen enough runs. */
#include <math.h>
#include <string.h>

#include "client/command/stat/until.h"
#include "common/macro.h"
#include "tests/harness/test.h"

enum { READ, WRITE, CLOCK, CHECK, METRICS };

struct runs {
	struct total total;
	struct total_socket sockets[2]; /* one, and all of them together */
	struct until until;
};

static void set_up(struct runs *runs, double percent)
{
	static const char *const names[] = { "dram.read", "dram.write", "clock",
		"check.dram.read" };

	*runs = (struct runs){ .until = { .percent = percent, .n_metrics = METRICS } };
	runs->total = (struct total){ .n_sockets = 1, .sockets = runs->sockets };
	for (unsigned i = 0; i < METRICS; i++) {
		strcpy(runs->until.metrics[i].name, names[i]);
		runs->until.metrics[i].is_bytes = i != CLOCK;
	}
}

/* @n runs with these mean and deviation, of @metric in all sockets together. */
static void set(struct runs *runs, unsigned metric, double mean, double deviation)
{
	runs->sockets[1].values[metric].mean = mean;
	runs->sockets[1].values[metric].squares = deviation * deviation * (runs->total.runs - 1);
}

static const char *tell(const struct runs *runs)
{
	static char text[1024];
	FILE *out = fmemopen(text, sizeof text, "w");

	assert_non_null(out);
	until_tell(&runs->until, out, "> ");
	fclose(out);
	return text;
}

CASE("two runs are never enough")
{
	struct runs runs;

	set_up(&runs, 1);
	assert_false(until_judge(&runs.until, &runs.total));
	assert_null(until_worst(&runs.until));
	runs.total.runs = 1;
	assert_false(until_judge(&runs.until, &runs.total));
	assert_true(isnan(until_worst(&runs.until)->error));
	runs.total.runs = 2;
	set(&runs, READ, 1000, 0);
	assert_false(until_judge(&runs.until, &runs.total));
	assert_string_equal(tell(&runs),
		"> Runs that were measured: 2, too few to judge a standard "
		"error; it needs 3.\n");
	runs.total.runs = 3;
	assert_true(until_judge(&runs.until, &runs.total));
}

CASE("the error is that of the mean, not of a run")
{
	struct runs runs;

	set_up(&runs, 1);
	runs.total.runs = 100;
	set(&runs, READ, 1000, 99); /* its mean: +- 9.9 */
	assert_true(until_judge(&runs.until, &runs.total));
	assert_true(fabs(runs.until.metrics[READ].error - 0.99) < 1e-9);
	set(&runs, READ, 1000, 100.1);
	assert_false(until_judge(&runs.until, &runs.total));
	assert_string_equal(tell(&runs), "> After 100 runs the standard error of the mean is not "
					 "below 1 % for dram.read (1 %).\n"
					 "> Left out, as below 1 % of the largest metric: "
					 "dram.write (0 %).\n");
}

CASE("every metric must reach it")
{
	struct runs runs;

	set_up(&runs, 5);
	runs.total.runs = 4;
	set(&runs, READ, 1000, 20);
	set(&runs, WRITE, 100, 50);
	assert_false(until_judge(&runs.until, &runs.total));
	assert_ptr_equal(until_worst(&runs.until), &runs.until.metrics[WRITE]);
	set(&runs, WRITE, 100, 8);
	assert_true(until_judge(&runs.until, &runs.total));
	assert_string_equal(tell(&runs), "> After 4 runs the standard error of the mean is below 5 "
					 "% for every metric; the largest is that of dram.write, 4 "
					 "%.\n");
}

CASE("a metric that the command hardly moves is left out, and named")
{
	struct runs runs;

	set_up(&runs, 5);
	runs.total.runs = 4;
	set(&runs, READ, 1000, 20);
	set(&runs, WRITE, 10.1, 50);
	assert_false(until_judge(&runs.until, &runs.total));
	set(&runs, WRITE, 9.9, 50);
	assert_true(until_judge(&runs.until, &runs.total));
	assert_int_equal(runs.until.metrics[WRITE].state, UNTIL_LEFT_OUT);
	assert_ptr_equal(until_worst(&runs.until), &runs.until.metrics[READ]);
	assert_non_null(strstr(tell(&runs), "> Left out, as below 1 % of the largest metric: "
					    "dram.write (253 %).\n"));
}

CASE("times, checks and absent metrics are not judged")
{
	struct runs runs;

	set_up(&runs, 5);
	runs.total.runs = 4;
	set(&runs, READ, 1000, 20);
	set(&runs, CLOCK, 1e9, 1e9);
	set(&runs, CHECK, 1e6, 1e6);
	set(&runs, WRITE, 1e6, 1e6);
	runs.sockets[1].values[WRITE].quality = UNCORE_ABSENT;
	assert_true(until_judge(&runs.until, &runs.total));
	assert_int_equal(runs.until.metrics[READ].state, UNTIL_BELOW);
	assert_int_equal(runs.until.metrics[CLOCK].state, UNTIL_IGNORED);
	assert_null(strstr(tell(&runs), "Left out"));
}

CASE("counts that are all 0 have no error")
{
	struct runs runs;

	set_up(&runs, 5);
	runs.total.runs = 3;
	assert_true(until_judge(&runs.until, &runs.total));
	assert_true(runs.until.metrics[READ].error == 0);
}

CASE("a median is the middle value, or the mean of the middle two")
{
	uint64_t odd[] = { 9, 1, 5 }, large[] = { UINT64_MAX, UINT64_MAX - 2 };
	struct range range;

	range_of(odd, 3, &range);
	assert_true(range.median == 5 && range.min == 1 && range.max == 9);
	range_of(large, 2, &range);
	assert_true(range.median == UINT64_MAX - 1 && range.min == UINT64_MAX - 2 &&
		    range.max == UINT64_MAX);
	range_of(odd, 1, &range);
	assert_true(range.median == 1 && range.min == 1 && range.max == 1);
}
