/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/stat/stat-run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/clock.h"
#include "common/macro.h"

void stat_begin(struct stat_run *run)
{
	if (!run->started_ns) {
		run->started_ns = readout_end_ns(&run->before);
		run->begun_s = time(NULL);
	}
	run->since = &run->before;
	stat_trace_begin(run);
}

uint64_t stat_tick(struct stat_run *run, uint64_t tick_ns)
{
	if (stat_read(run, &run->now) == 0)
		stat_print_interval(run);
	/* After an interval that took too long, a whole one follows, and not a burst. */
	return clock_next_tick_ns(tick_ns, run->options.step_ns);
}

/* Where the run is added. A cut one is less than the others, so that no mean may have it. */
static struct total *stat_total_of(struct stat_run *run, bool is_cut)
{
	if (!is_cut)
		return &run->total;
	if (total_init_like(&run->cut, &run->total) < 0)
		return NULL;
	run->cut.idle = run->total.idle;
	run->cut.subtract = run->total.subtract;
	return &run->cut;
}

static bool stat_is_standing_known(const struct stat_run *run, const struct standing *standing)
{
	for (uint32_t i = 0; i < run->n_standing; i++)
		if (run->standing[i].socket == standing->socket &&
			run->standing[i].metric == standing->metric &&
			strcmp(run->standing[i].name, standing->name) == 0)
			return true;
	return false;
}

/* Flags the sums of @total that lack a box in this run, and notes the box. */
static void note_standing(struct stat_run *run, struct total *total)
{
	_cleanup_free_ struct standing *found = NULL;
	const int n =
		standing_find(run->reader.handle, run->before.channels, run->now.channels, &found);

	for (int i = 0; i < n; i++) {
		if (found[i].kind == STANDING_EMPTY)
			continue;
		total_flag(total, found[i].socket, found[i].metric, UNCORE_PARTIAL);
		if (!stat_is_standing_known(run, &found[i]) &&
			array_room(&run->standing, run->n_standing, sizeof *run->standing) == 0)
			run->standing[run->n_standing++] = found[i];
	}
}

void stat_take_result(struct stat_run *run, uint64_t wall_ns, bool is_cut)
{
	struct total *total;
	int r;

	if (stat_read(run, &run->now) < 0) {
		run->failed = true;
		return;
	}
	total = stat_total_of(run, is_cut);
	r = total ? total_add_interval(total, &run->before, &run->now) : -ENOMEM;
	if (r < 0) {
		stat_complain(run, r == -ENOMEM ? "out of memory." : uncore_error_text());
		run->failed = true;
		return;
	}
	note_standing(run, total);
	total_add_wall(total, wall_ns);
	if (run->options.step_ns)
		stat_print_interval(run);
	stat_trace_end(run);
}
