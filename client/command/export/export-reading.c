/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/export/export.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/macro.h"

/*
 * How long a busy machine may take to answer. Prometheus gives up a scrape after ten seconds by
 * default. If no client waits, a read that the site's interval holds back may take longer.
 */
static const uint64_t PATIENCE_NS = UINT64_C(5000000000);
/* How long a hurried reading waits if the site holds reads back. It still rings for a sweep, and
 * the next reading gets that sweep. */
static const uint64_t HELD_NS = UINT64_C(1000000000);

static int export_take_reading(const struct export_wish *wish, struct export_reading *ret)
{
	const uint64_t deadline_ns = clock_deadline_ns(PATIENCE_NS);
	const struct reader_wish how = {
		.use = wish->difference ? READER_DIFFERENCE : READER_GAUGE,
		.channels = wish->channels,
		.deadline_ns = wish->hurried ? deadline_ns : 0,
		.patience_ns = wish->hurried ? HELD_NS : 0,
	};
	int r = reader_open(&ret->reader, PATIENCE_NS);

	if (r == 0)
		r = reader_take(&ret->reader, &how, &ret->readout);
	return r < 0 ? r : uncore_describe_daemon(ret->reader.handle, &ret->daemon);
}

void export_reading_take(const struct export_wish *wish, struct export_reading *ret)
{
	*ret = (struct export_reading){ .reader.socket_path = wish->socket_path,
		.daemon = UNCORE_DAEMON_INIT };
	ret->error = export_take_reading(wish, ret);
	if (ret->error == -ESTALE) { /* counters that begin anew give a reading, too */
		reader_close(&ret->reader);
		ret->error = export_take_reading(wish, ret);
	}
	ret->epoch_ns = clock_wall_ns() - clock_now_ns();
	if (ret->error < 0)
		snprintf(ret->failure, sizeof ret->failure, "%s", reader_failure(ret->error));
	/* Without the report, the reading still succeeds. */
	else if (wish->report && uncore_info(wish->socket_path, &ret->report) < 0)
		snprintf(ret->failure, sizeof ret->failure, "%s", uncore_error_text());
}

void export_reading_done(struct export_reading *reading)
{
	reader_close(&reading->reader);
	readout_done(&reading->readout);
	free(take_ptr(reading->report));
}
