/* SPDX-License-Identifier: BSD-3-Clause */
/* `uncore compare`: what it says of runs whose distributions are known. */
#include <math.h>
#include <stdlib.h>

#include "client/ratio/judge.h"
#include "tests/unit/command/command-case.h"

enum { RUNS = 8, METRICS = 3, PAIRS = 1000 };

static double normal(unsigned short seed[3])
{
	return sqrt(-2 * log(1 - erand48(seed))) * cos(2 * M_PI * erand48(seed));
}

/* Counts of @n runs with a scatter of @sigma around @mean. */
static void draw(double ret[], size_t n, double mean, double sigma, unsigned short seed[3])
{
	for (size_t i = 0; i < n; i++)
		ret[i] = mean * exp(sigma * normal(seed));
}

/* Of PAIRS comparisons of METRICS metrics, in how many does B differ from A? */
static unsigned alarms(size_t n, double ratio, double sigma_a, double sigma_b)
{
	unsigned short seed[3] = { 1, 2, 3 };
	unsigned n_alarms = 0;

	for (unsigned k = 0; k < PAIRS; k++) {
		double a[METRICS][RUNS], b[METRICS][RUNS];
		struct compare_pair pairs[METRICS] = {};
		bool differs = false;

		for (unsigned i = 0; i < METRICS; i++) {
			draw(a[i], n, 1e9, sigma_a, seed);
			draw(b[i], n, 1e9 * ratio, sigma_b, seed);
			pairs[i].a = (struct compare_side){ .n = n, .runs = a[i] };
			pairs[i].b = (struct compare_side){ .n = n, .runs = b[i] };
		}
		compare_judge(pairs, METRICS);
		for (unsigned i = 0; i < METRICS; i++) {
			differs |= pairs[i].is_different;
			assert_int_equal(
				pairs[i].is_different, pairs[i].low > 1 || pairs[i].high < 1);
		}
		n_alarms += differs;
	}
	return n_alarms;
}

CASE("equals are rarely told apart")
{
	assert_in_range(alarms(3, 1, 0.02, 0.02), 0, PAIRS / 20);
	assert_in_range(alarms(5, 1, 0.02, 0.02), 1, PAIRS / 20);
	assert_in_range(alarms(8, 1, 0.1, 0.02), 1, PAIRS / 20);
}

CASE("a difference is found")
{
	assert_in_range(alarms(5, 1.1, 0.02, 0.02), PAIRS * 99 / 100, PAIRS);
	assert_in_range(alarms(8, 0.95, 0.02, 0.02), PAIRS * 9 / 10, PAIRS);
}

CASE("the distribution is Student's")
{
	static const struct {
		double freedom, alpha, t;
	} known[] = {
		{ 1, 0.05, 12.7062 },
		{ 4, 0.05, 2.7764 },
		{ 9, 0.05, 2.2622 },
		{ 9, 0.01, 3.2498 },
		{ 30, 0.1, 1.6973 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		const struct welch welch = { .error = 1, .freedom = known[i].freedom };

		assert_true(fabs(welch_margin(&welch, known[i].alpha) - known[i].t) < 1e-4);
	}
}

/* Of these runs, R's t.test(log(b), log(a)) has 4.0 degrees of freedom when both scatter alike. */
CASE("the degrees of freedom are Welch's")
{
	const double a[] = { 100, 101, 102 }, b[] = { 200, 202, 204 };
	const struct welch welch = welch_test(a, 3, b, 3);

	assert_true(fabs(welch.freedom - 4) < 1e-6);
	assert_true(fabs(exp(welch.difference) - 2) < 1e-9);
	assert_true(welch.p < 1e-6);
}

/* A file of three runs whose counts are @percent above 1000, 1010 and 1020. */
static void write_runs(const char *path, const char *platform, unsigned percent)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fprintf(file,
		"{\"platform\":\"%s\",\"sockets\":[],\"all_sockets\":{\"metrics\":{\"dram.read\":{"
		"\"bytes\":1,\"bytes_each\":[%u,%u,%u],\"quality\":[]},\"itom\":{\"bytes\":0,"
		"\"quality\":[]},\"hbm.read\":{\"absent\":\"none\"}}}}\n",
		platform, 1000 * (100 + percent), 1010 * (100 + percent), 1020 * (100 + percent));
	fclose(file);
}

CASE("verdicts and their exit status")
{
	char a[64], b[64], line[200];
	struct outcome outcome;
	static const struct {
		const char *platform, *options, *says;
		unsigned percent;
		int status;
	} cases[] = {
		{ "x", "", " more\n", 20, 0 },
		{ "x", "--fail-above 5", " more\n", 20, 1 },
		{ "x", "--fail-above 5", " within 5 %\n", 0, 0 },
		{ "x", "--fail-above 1", " within 5 %\n", 0, 3 },
		{ "x", "--within 1", " cannot tell (needs about ", 0, 0 },
		{ "y", "--fail-above 5", " not comparable: another platform\n", 0, 3 },
	};

	snprintf(a, sizeof a, "/tmp/uncore-test-%d-a", getpid());
	snprintf(b, sizeof b, "/tmp/uncore-test-%d-b", getpid());
	write_runs(a, "x", 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		write_runs(b, cases[i].platform, cases[i].percent);
		snprintf(line, sizeof line, "compare %s %s %s", cases[i].options, a, b);
		run(&outcome, line);
		expect(&outcome, cases[i].status, cases[i].says);
		assert_null(strstr(outcome.text, "hbm"));
	}
	expect(&outcome, 3, "itom");
	unlink(b);
	run(&outcome, line);
	expect(&outcome, 2, "cannot be read: No such file");
	snprintf(line, sizeof line, "compare %s /dev/null", a);
	run(&outcome, line);
	expect(&outcome, 2, "is not an output of `uncore stat --json`");
	unlink(a);
}

/* A report of two sockets and two regions; the first reads @bytes on each socket. */
static void write_report(const char *path, unsigned bytes, const char *second)
{
	static const char socket[] =
		"{\"socket\":%u,\"window_ns\":1000,\"skew_ns\":10,\"metrics\":{"
		"\"dram.read\":{\"bytes\":%u,\"quality\":[]},\"hbm.read\":{\"absent\":\"none\"}}}%"
		"s";
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fprintf(file, "{\"platform\":\"x\",\"regions\":[{\"name\":\"solve\",\"sockets\":[");
	fprintf(file, socket, 0, bytes, ",");
	fprintf(file, socket, 1, bytes, "]},");
	fprintf(file, "{\"name\":\"%s\",\"sockets\":[", second);
	fprintf(file, socket, 0, 1000, "]}]}\n");
	fclose(file);
}

CASE("the regions of two reports are compared by name")
{
	char a[64], b[64], line[200];
	struct outcome outcome;

	snprintf(a, sizeof a, "/tmp/uncore-test-%d-a", getpid());
	snprintf(b, sizeof b, "/tmp/uncore-test-%d-b", getpid());
	write_report(a, 1000, "load");
	write_report(b, 3000, "store\\u001b");
	snprintf(line, sizeof line, "compare %s %s", a, b);
	run(&outcome, line);
	expect(&outcome, 0,
		" region solve\n dram.read        3.0000   2.9406 to   3.0606 cannot tell");
	expect(&outcome, 0, " region load\n dram.read      not comparable: not in both\n");
	assert_null(strstr(outcome.text, "hbm"));
	write_report(b, 1000, "load");
	run(&outcome, line);
	expect(&outcome, 0, " region load\n dram.read        1.0000 ");
	assert_non_null(strstr(outcome.text, "no scatter of runs."));
	write_report(b, 0, "store");
	run(&outcome, line);
	assert_null(strstr(outcome.text, "intervals"));
	unlink(a);
	unlink(b);
	run(&outcome, "compare");
	expect(&outcome, 2, "it takes two FILEs: outputs of `uncore stat -r 5 --json -o A.json");
}

/* A file with one metric, of which @members tell. */
static void write_metric(const char *path, const char *members)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fprintf(file,
		"{\"platform\":\"x\",\"sockets\":[],\"all_sockets\":{\"metrics\":{\"dram.read\":{%"
		"s}}}}\n",
		members);
	fclose(file);
}

CASE("what differs in unit or quality, or is absent, is not comparable")
{
	static const char *const others[][2] = {
		{ "\"unit\":\"nJ\",\"value\":1,\"quality\":[]", "other units" },
		{ "\"bytes\":1,\"quality\":[\"partial\"]", "other quality" },
		{ "\"absent\":\"none\"", "absent in one of them" },
	};
	char a[64], b[64], line[200];
	struct outcome outcome;

	snprintf(a, sizeof a, "/tmp/uncore-test-%d-a", getpid());
	snprintf(b, sizeof b, "/tmp/uncore-test-%d-b", getpid());
	snprintf(line, sizeof line, "compare --fail-above 5%% %s %s", a, b);
	write_metric(a, "\"bytes\":1,\"quality\":[]");
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		write_metric(b, others[i][0]);
		run(&outcome, line);
		expect(&outcome, 3, others[i][1]);
	}
	unlink(a);
	unlink(b);
}

CASE("one run has no scatter")
{
	struct outcome outcome;
	char line[200];

	snprintf(line, sizeof line, "stat --json -o /tmp/uncore-test-%d true", getpid());
	run_with(&outcome, NULL, line);
	assert_int_equal(outcome.status, 0);
	snprintf(line, sizeof line, "compare /tmp/uncore-test-%d /tmp/uncore-test-%d", getpid(),
		getpid());
	run(&outcome, line);
	expect(&outcome, 0, "cannot tell (needs 3 runs of each)");
	expect(&outcome, 0, "no scatter of runs.");
	for (char *rest = outcome.text, *text; (text = strsep(&rest, "\n"));)
		assert_in_range(strlen(text), 0, 80);
	unlink(strrchr(line, ' ') + 1);
}
