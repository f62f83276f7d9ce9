/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/stat/stat-run.h"

#include <inttypes.h>
#include <math.h>
#include <unistd.h>

#include "common/clock.h"

/* Work that ends sooner needs no progress line. */
static const uint64_t PAUSE_NS = UINT64_C(2000000000);

/* A standard error falls with the square root of the number of runs. */
static uint64_t guess_left(const struct stat_run *run, const struct until_metric *worst)
{
	uint64_t most = run->options.repeat - run->number;
	double runs = run->total.runs * pow(worst->error / run->until.percent, 2);
	double left = ceil(runs - run->total.runs);

	if (left < 1)
		return 1;
	return left < (double)most ? (uint64_t)left : most;
}

static bool is_time(struct stat_run *run)
{
	uint64_t now_ns = clock_now_ns();

	if (!run->progress_told_ns)
		run->progress_told_ns = run->started_ns ? run->started_ns : now_ns;
	if (now_ns - run->progress_told_ns < PAUSE_NS)
		return false;
	run->progress_told_ns = now_ns;
	return true;
}

void stat_tell_progress(struct stat_run *run)
{
	const struct until_metric *worst = until_worst(&run->until);

	if (run->number == run->options.repeat || !isatty(STDERR_FILENO) || !is_time(run))
		return;
	if (!run->number) {
		fprintf(stderr, "uncore stat: %" PRIu64 " of %" PRIu64 " runs to warm up.\n",
			run->n_warm, run->options.warmup);
		return;
	}
	fprintf(stderr, "uncore stat: %" PRIu64 " of%s %" PRIu64 " runs in %.0f s", run->number,
		run->options.until > 0 ? " at most" : "", run->options.repeat,
		(double)(clock_now_ns() - run->started_ns) / 1e9);
	if (run->options.until > 0 && worst && isfinite(worst->error))
		fprintf(stderr,
			"; standard error of %s %.3g %%, wanted below %g %%; about %" PRIu64
			" more",
			worst->name, worst->error, run->until.percent, guess_left(run, worst));
	fputs(".\n", stderr);
}
