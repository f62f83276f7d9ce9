/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/stat/stat-reading.h"

#include <errno.h>
#include <stdlib.h>

/*
 * A reading that fails costs a whole run, so a busy machine gets more time than by default. The
 * library's time limit is short, because other programs may wait for its caller. Here only the
 * figures matter, so uncored is asked again if it is late once.
 */
static const struct reader_wish wish = { .use = READER_DIFFERENCE, .attempts = 3 };

int stat_read(struct stat_run *run, struct readout *ret)
{
	int r = reader_take(&run->reader, &wish, ret);

	if (r < 0 && r != run->last_failure) /* once, not at every interval */
		stat_complain(run, r == -ESTALE
					   ? "uncored was restarted and lost its counts: there "
					     "are no figures for this run."
					   : reader_failure(r));
	run->last_failure = r;
	return r;
}

int stat_connect(struct stat_run *run)
{
	run->reader.socket_path = run->options.socket_path;
	if (reader_open(&run->reader, READER_CONNECT_NS) < 0) {
		stat_complain(run, uncore_error_text());
		return -1;
	}
	run->wall_ns = calloc(run->options.repeat, sizeof *run->wall_ns);
	run->since = calloc(run->reader.machine.n_sockets, sizeof *run->since);
	if (!run->wall_ns || !run->since ||
		total_init(&run->total, run->reader.machine.n_sockets) < 0) {
		stat_complain(run, "out of memory.");
		return -1;
	}
	until_init(&run->until, run->options.until, run->reader.handle);
	return 0;
}

uint64_t stat_reading_ns(const struct readout *readout)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < readout->n_sockets; i++)
		ns = readout->samples[i].end_ns > ns ? readout->samples[i].end_ns : ns;
	return ns;
}

void stat_disconnect(struct stat_run *run)
{
	readout_done(&run->before);
	readout_done(&run->now);
	free(run->since);
	free(run->wall_ns);
	total_done(&run->total);
	reader_close(&run->reader);
}
