/* SPDX-License-Identifier: BSD-3-Clause */
/* What `uncore run` says of a job without regions. */
#include <math.h>
#include <string.h>

#include "client/command/report/verdict.h"
#include "tests/harness/test.h"

enum { RATES = 100, SOCKETS = 2 };

/* Ten seconds, in which socket 0 moves 40 GB/s and then 90, and socket 1 nothing. */
struct job {
	double rates[SOCKETS][RATES], end_s[RATES];
	struct verdict_socket sockets[SOCKETS];
	struct verdict verdict;
	char text[8192];
};

static void set_up(struct job *job)
{
	*job = (struct job){ .verdict = { .command = "./app",
				     .platform = "icelake-sp",
				     .tier = "dram",
				     .n_sockets = SOCKETS,
				     .sockets = job->sockets,
				     .n = RATES,
				     .end_s = job->end_s,
				     .failure = "" } };
	for (int k = 0; k < RATES; k++) {
		job->end_s[k] = (k + 1) / 10.0;
		job->rates[0][k] = (k < 30 ? 40 : 90) + k % 3 - 1;
	}
	for (uint32_t i = 0; i < SOCKETS; i++)
		job->sockets[i] = (struct verdict_socket){
			.shown = { .socket = i,
				.n_values = 4,
				.values = { { .name = "dram.read",
						    .unit = "bytes",
						    .count = i ? 0 : 500000000000,
						    .rate = i ? 0 : 50 },
					{ .name = "dram.write",
						.unit = "bytes",
						.count = i ? 0 : 250000000000,
						.rate = i ? 0 : 25 },
					{ .name = "dram.total",
						.unit = "bytes",
						.rate = i ? 0 : 75 },
					{ .name = "hbm.read",
						.unit = "bytes",
						.quality = UNCORE_ABSENT,
						.why = "none" } } },
			.peak = 100,
			.before = 1,
			.after = 0.5,
			.rates = job->rates[i],
		};
}

static const char *tell(struct job *job)
{
	FILE *out = fmemopen(job->text, sizeof job->text, "w");

	assert_non_null(out);
	verdict_print(out, &job->verdict);
	fclose(out);
	return job->text;
}

static void expect(struct job *job, const char *part)
{
	if (!strstr(tell(job), part))
		fail_msg("no \"%s\" in:\n%s", part, job->text);
}

static void refuse(struct job *job, const char *part)
{
	if (strstr(tell(job), part))
		fail_msg("\"%s\" in:\n%s", part, job->text);
}

CASE("a verdict is as it was looked at")
{
	static const char text[] =
		"\n Traffic while './app' ran, for 10.000 s, platform icelake-sp:\n\n"
		" socket       GB read       GB/s  GB written       GB/s both GB/s\n"
		"  0 dram     500.000     50.000     250.000     25.000    75.000   75 % of "
		"100.0\n"
		"  1 dram       0.000      0.000       0.000      0.000     0.000    0 % of "
		"100.0\n"
		"   absent: hbm.read (none)\n"
		" Just before the job socket 0 moved 1.000 GB/s, just after it 0.500 GB/s.\n"
		" Just before the job socket 1 moved 1.000 GB/s, just after it 0.500 GB/s.\n"
		"\n course of dram; a block is 0.167 s, and a full one is the peak\n"
		"  0 ------------------******************************************\n"
		"  1 ____________________________________________________________\n"
		"\n phases of all sockets together, by dram\n"
		"      0.000 to     3.000 s       40.033 GB/s\n"
		"      3.000 to    10.000 s       89.957 GB/s   begin +- 0.2 s\n"
		"\n On socket 0 memory-bound for 70 % of the time (above 80 % of its peak).\n"
		" Everything that each socket did is counted, not only this job.\n";
	struct job job;

	set_up(&job);
	assert_string_equal(tell(&job), text);
}

CASE("without a validated peak there is no share and no sentence, and it says why")
{
	struct job job;

	set_up(&job);
	job.sockets[0].peak = job.sockets[1].peak = 0;
	expect(&job, "share of the peak: -, since nobody has kept a report of `uncore validate`");
	expect(&job, "a full one is 91.000 GB/s\n");
	refuse(&job, "memory-bound");
	refuse(&job, "%");
}

CASE("there is no sentence where the figures do not support it")
{
	static const uint32_t doubts[] = { UNCORE_PARTIAL, UNCORE_RESET, UNCORE_STANDIN,
		UNCORE_UNCALIBRATED, UNCORE_FROZEN };
	struct job job;

	for (size_t i = 0; i < sizeof doubts / sizeof *doubts; i++) {
		set_up(&job);
		job.sockets[0].shown.values[2].quality = doubts[i];
		refuse(&job, "memory-bound");
	}
	set_up(&job);
	job.verdict.failure = "uncored is gone.";
	refuse(&job, "memory-bound");
	expect(&job, "Not all of the course is known: uncored is gone.");
	set_up(&job);
	job.verdict.n = 19;
	refuse(&job, "memory-bound");
	refuse(&job, "phases");
	set_up(&job);
	job.sockets[0].peak = 120; /* never above 80 % of it */
	refuse(&job, "memory-bound");
}

CASE("where others moved much, or nothing is known of them, the job is not the cause")
{
	struct job job;

	set_up(&job);
	job.sockets[0].after = 20;
	refuse(&job, "memory-bound");
	expect(&job,
		"Socket 0 was above 80 % of its peak for 70 % of the time, but others moved much "
		"of it.\n");
	job.sockets[0].before = job.sockets[0].after = NAN;
	expect(&job, "but what others moved is not known.\n");
	refuse(&job, "Without it socket 0");
}

CASE("what is absent is not 0")
{
	struct job job;

	set_up(&job);
	for (int i = 0; i < 3; i += 2) {
		job.sockets[1].shown.values[i].quality = UNCORE_ABSENT;
		job.sockets[1].shown.values[i].why = "the box is gone";
	}
	expect(&job, "  1 dram           -          -       0.000      0.000         -\n");
	expect(&job, "absent: dram.read, dram.total (the box is gone)");
	for (int k = 0; k < RATES; k++)
		job.rates[1][k] = NAN;
	expect(&job, "\n  1                          ");
	expect(&job, "3.000 s       40.033 GB/s\n");
	job.sockets[1].shown.values[1].quality = UNCORE_ABSENT;
	job.sockets[1].shown.values[1].why = "the box is gone";
	refuse(&job, "  1 dram");
}

CASE("a short job has as many blocks as rates, and one reading has no course")
{
	struct job job;

	set_up(&job);
	job.verdict.n = 5;
	job.verdict.utf8 = true;
	expect(&job, "a block is 0.1 s");
	expect(&job, "  0 ▄▄▄▄▄\n");
	job.verdict.n = 1;
	refuse(&job, "course");
}
