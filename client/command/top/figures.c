/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/top/figures.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/command/frame/validated.h"
#include "common/clock.h"
#include "common/macro.h"

/* For how long keys may wait for uncored, beside the time for which the site holds a reading back.
 */
static const uint64_t PATIENCE_NS = 2000000000;

/* --- the connection --- */

static void close_all(struct figures *figures)
{
	figures_break(figures);
	free(take_ptr(figures->shown));
	readout_done(&figures->before);
	readout_done(&figures->now);
	total_done(&figures->interval);
	parts_done(&figures->parts);
	reader_close(&figures->reader);
}

static void read_peaks(struct figures *figures)
{
	_cleanup_(validated_done) struct validated validated;
	const bool is_known = validated_read(&validated, figures->reader.platform);

	for (uint32_t i = 0; i < figures->courses.n_sockets; i++)
		figures->courses.all[i].peak = is_known ? validated_peak(&validated, i) : 0;
}

static int find_parts(struct figures *figures)
{
	struct uncore *handle = figures->reader.handle;

	if (figures->wanted == FIGURES_CHANNELS)
		return parts_of_channels(handle, &figures->parts);
	return figures->wanted == FIGURES_NODES
		       ? parts_of_nodes(handle, figures->reader.socket_path, &figures->parts)
		       : 0;
}

static int set_up(struct figures *figures)
{
	const uint32_t n_sockets = figures->reader.machine.n_sockets;
	int r = find_parts(figures);

	if (r < 0)
		return r;
	figures->shown = calloc(n_sockets + figures->parts.n + 1, sizeof *figures->shown);
	r = figures->shown ? courses_resize(&figures->courses, n_sockets, figures->parts.n)
			   : -ENOMEM;
	if (r == 0)
		r = total_init(
			&figures->interval, n_sockets, figures->parts.n ? &figures->parts : NULL);
	if (r < 0)
		return r;
	total_add_tiers(&figures->interval, figures->reader.handle);
	read_peaks(figures);
	return 0;
}

/* --- intervals --- */

/* What passed between the two readings. */
static int figures_show(struct figures *figures)
{
	_cleanup_(total_done) struct total last = figures->interval;
	int r = total_init_like(&figures->interval, &last);

	if (r == 0)
		r = total_add_interval(&figures->interval, &figures->before, &figures->now);
	if (r < 0)
		return r;
	figures->n_sockets = last.n_sockets;
	figures->n = last.n_sockets + total_n_parts(&last);
	/* All sockets together stand between the sockets and the parts. */
	for (uint32_t i = 0; i < figures->n; i++)
		total_show(&figures->interval, figures->reader.handle, i + (i >= last.n_sockets),
			&figures->shown[i]);
	courses_add(&figures->courses, figures->shown, readout_end_ns(&figures->before),
		readout_end_ns(&figures->now));
	return 0;
}

static int figures_read_all(struct figures *figures)
{
	const struct reader_wish wish = {
		.use = READER_DIFFERENCE,
		.channels = figures->parts.n,
		.deadline_ns =
			clock_deadline_ns(PATIENCE_NS + figures_daemon(figures).min_interval_ns),
	};
	const struct readout before = figures->before;
	int r = reader_take(&figures->reader, &wish, &figures->now);

	if (r == 0 && figures->is_begun)
		r = figures_show(figures);
	if (r < 0)
		return r;
	figures->is_begun = true;
	figures->before = figures->now;
	figures->now = before;
	return 0;
}

int figures_take(struct figures *figures)
{
	int r = figures->reader.handle ? 0 : reader_open(&figures->reader, PATIENCE_NS);

	if (r == 0 && !figures->shown)
		r = set_up(figures);
	if (r == 0)
		r = figures_read_all(figures);
	if (r < 0) {
		snprintf(figures->failure, sizeof figures->failure, "%s", reader_failure(r));
		close_all(figures);
		return r;
	}
	*figures->failure = '\0';
	return 0;
}

void figures_break(struct figures *figures)
{
	figures->is_begun = false;
	figures->n_sockets = figures->n = 0;
}

void figures_want(struct figures *figures, enum figures_parts wanted)
{
	figures->wanted = wanted;
	close_all(figures);
}

struct uncore_daemon figures_daemon(const struct figures *figures)
{
	struct uncore_daemon daemon = UNCORE_DAEMON_INIT;

	if (figures->reader.handle)
		uncore_describe_daemon(figures->reader.handle, &daemon);
	return daemon;
}

void figures_done(struct figures *figures)
{
	close_all(figures);
	courses_done(&figures->courses);
}
