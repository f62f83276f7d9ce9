/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/stat/stat-reading.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/reader/renew.h"

/* A reading that fails costs a whole run, so a busy machine gets more time than by default. */
enum { READ_ATTEMPTS = 3 };

static int connect_again(struct stat_run *run)
{
	struct uncore_machine machine = UNCORE_MACHINE_INIT;
	struct uncore *handle;
	int r = uncore_open_within(run->options.socket_path, RENEW_WITHIN_NS, &handle);

	if (r < 0)
		return r;
	uncore_describe(handle, &machine);
	/* Tables and counts are the same as long as the generation is. */
	if (run->handle &&
		memcmp(machine.generation, run->machine.generation, sizeof machine.generation)) {
		uncore_close(handle);
		return -ESTALE;
	}
	uncore_close(run->handle);
	run->handle = handle;
	run->machine = machine;
	return 0;
}

/*
 * Reads all sockets. The library's time limit is short, because other programs may wait for its
 * caller; here only the figures matter, so a reader that is late for once is asked again.
 */
static int read_patiently(const struct stat_run *run, struct uncore_sample samples[])
{
	int r = -ETIMEDOUT;

	for (int i = 0; i < READ_ATTEMPTS && r == -ETIMEDOUT; i++)
		r = uncore_read_all(run->handle, UNCORE_FRESH, samples, run->machine.n_sockets);
	return r;
}

/* A daemon that was restarted meanwhile is asked over a new connection. */
int stat_read(struct stat_run *run, struct uncore_sample samples[])
{
	int r = read_patiently(run, samples);

	if (renew_may_help(r)) {
		r = connect_again(run);
		if (r == 0)
			r = read_patiently(run, samples);
	}
	if (r < 0 && r != run->last_failure) /* once, not at every interval */
		stat_complain(run, r == -ESTALE
					   ? "uncored was restarted and lost its counts: there "
					     "are no figures for this run."
					   : uncore_error_text());
	run->last_failure = r;
	return r;
}

static struct uncore_sample *new_samples(uint32_t n)
{
	struct uncore_sample *samples = calloc(n, sizeof *samples);

	for (uint32_t i = 0; samples && i < n; i++)
		samples[i].size = sizeof samples[i];
	return samples;
}

int stat_connect(struct stat_run *run)
{
	if (connect_again(run) < 0) {
		stat_complain(run, uncore_error_text());
		return -1;
	}
	run->before = new_samples(run->machine.n_sockets);
	run->since = new_samples(run->machine.n_sockets);
	run->now = new_samples(run->machine.n_sockets);
	run->wall_ns = calloc(run->options.repeat, sizeof *run->wall_ns);
	if (!run->before || !run->since || !run->now || !run->wall_ns ||
		total_init(&run->total, run->machine.n_sockets) < 0) {
		stat_complain(run, "out of memory.");
		return -1;
	}
	until_init(&run->until, run->options.until, run->handle);
	return 0;
}

uint64_t stat_reading_ns(const struct stat_run *run, const struct uncore_sample samples[])
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < run->machine.n_sockets; i++)
		ns = samples[i].end_ns > ns ? samples[i].end_ns : ns;
	return ns;
}

void stat_disconnect(struct stat_run *run)
{
	free(run->before);
	free(run->since);
	free(run->now);
	free(run->wall_ns);
	total_done(&run->total);
	uncore_close(run->handle);
}
