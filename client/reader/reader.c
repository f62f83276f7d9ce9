/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/reader/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/macro.h"

static const uint64_t LEAST_NS = 1000000; /* least time limit of a call */

static uint64_t left_ns(uint64_t deadline_ns)
{
	return clock_left_ns(deadline_ns, LEAST_NS);
}

const char *reader_failure(int error)
{
	if (error == -ESTALE)
		return "uncored was restarted and lost its counts.";
	return error == -ENOMEM ? "There is no memory for a reading." : uncore_error_text();
}

/* --- the connection --- */

static bool is_same_generation(const struct uncore_machine *a, const struct uncore_machine *b)
{
	return memcmp(a->generation, b->generation, sizeof a->generation) == 0;
}

int reader_open(struct reader *reader, uint64_t within_ns)
{
	struct uncore_machine machine = UNCORE_MACHINE_INIT;
	struct uncore *handle;
	int r = uncore_open_within(reader->socket_path, within_ns, &handle);

	if (r < 0)
		return r;
	uncore_describe(handle, &machine);
	/* Tables and counts are the same as long as the generation is. */
	if (reader->handle && !is_same_generation(&machine, &reader->machine)) {
		uncore_close(handle);
		return -ESTALE;
	}
	snprintf(reader->platform, sizeof reader->platform, "%s", machine.platform);
	machine.platform = reader->platform;
	reader->machine = machine;
	reader->n_connections++;
	uncore_close(__atomic_exchange_n(&reader->handle, handle, __ATOMIC_ACQ_REL));
	return 0;
}

void reader_close(struct reader *reader)
{
	/* Removed before it is closed: a child forked in between must not find half a handle. */
	uncore_close(__atomic_exchange_n(&reader->handle, NULL, __ATOMIC_ACQ_REL));
}

bool reader_may_renew(int error)
{
	return error == -ENOTCONN || error == -EACCES || error == -EINVAL;
}

/* --- room --- */

uint64_t readout_end_ns(const struct readout *readout)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < readout->n_sockets; i++)
		ns = readout->samples[i].end_ns > ns ? readout->samples[i].end_ns : ns;
	return ns;
}

void readout_done(struct readout *readout)
{
	free(take_ptr(readout->samples));
	free(take_ptr(readout->channels));
	*readout = (struct readout){ 0 };
}

static bool reader_has_room(
	const struct readout *readout, const struct uncore_machine *machine, bool channels)
{
	return readout->samples && readout->n_sockets == machine->n_sockets &&
	       readout->n_channels == machine->n_channels && (readout->channels || !channels);
}

static int reader_make_room(
	struct readout *readout, const struct uncore_machine *machine, bool channels)
{
	if (reader_has_room(readout, machine, channels))
		return 0;
	readout_done(readout);
	readout->n_sockets = machine->n_sockets;
	readout->n_channels = machine->n_channels;
	readout->samples = calloc(machine->n_sockets + 1, sizeof *readout->samples);
	readout->channels =
		channels ? calloc(machine->n_channels + 1, sizeof *readout->channels) : NULL;
	if (!readout->samples || (channels && !readout->channels)) {
		readout_done(readout);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < machine->n_sockets; i++)
		readout->samples[i].size = sizeof readout->samples[i];
	return 0;
}

/* --- reading --- */

static int read_chosen(const struct reader *reader, uint32_t sockets, struct readout *ret)
{
	int r = 0;

	for (uint32_t i = 0; i < ret->n_sockets && r == 0; i++)
		if (sockets >> i & 1)
			r = uncore_read(reader->handle, i, UNCORE_FRESH, &ret->samples[i]);
	return r;
}

/* Waits for fresh sweeps until the deadline, but at most @within_ns (0: no such limit). */
static int read_fresh(const struct reader *reader, const struct reader_wish *wish,
	uint64_t within_ns, struct readout *ret)
{
	uint64_t limit_ns = within_ns;
	unsigned n = 0;
	int r;

	if (wish->deadline_ns && (!within_ns || left_ns(wish->deadline_ns) < within_ns))
		limit_ns = left_ns(wish->deadline_ns);
	if (limit_ns)
		uncore_set_timeout(reader->handle, limit_ns);
	do
		r = wish->sockets ? read_chosen(reader, wish->sockets, ret)
				  : uncore_read_all(reader->handle, UNCORE_FRESH, ret->samples,
					    ret->n_sockets);
	while (r == -ETIMEDOUT && ++n < wish->attempts);
	return r;
}

/* Takes the last sweeps, unless one is older than the site's least interval. */
static bool reader_take_last(
	const struct reader *reader, uint64_t called_ns, uint64_t hold_ns, struct readout *ret)
{
	uint64_t oldest_ns = called_ns;

	if (uncore_read_all(reader->handle, UNCORE_CACHED, ret->samples, ret->n_sockets) < 0)
		return false;
	for (uint32_t i = 0; i < ret->n_sockets; i++)
		if (ret->samples[i].begin_ns < oldest_ns)
			oldest_ns = ret->samples[i].begin_ns;
	ret->age_ns = called_ns - oldest_ns;
	return ret->age_ns <= hold_ns;
}

static int read_gauge(
	const struct reader *reader, const struct reader_wish *wish, struct readout *ret)
{
	const uint64_t called_ns = clock_now_ns();
	struct uncore_daemon daemon = UNCORE_DAEMON_INIT;
	uint64_t hold_ns;
	int r = uncore_describe_daemon(reader->handle, &daemon);

	if (r < 0)
		return r;
	hold_ns = daemon.min_interval_ns;
	r = read_fresh(reader, wish, hold_ns ? wish->patience_ns : 0, ret);
	if (r != -ETIMEDOUT || !hold_ns)
		return r;
	if (reader_take_last(reader, called_ns, hold_ns, ret))
		return 0;
	if (!wish->patience_ns || clock_now_ns() >= wish->deadline_ns)
		return r;
	return read_fresh(reader, wish, 0, ret);
}

/* Reads the sweep that was just taken, or a later one: a sample and its channels must be of the
 * same sweep. */
static int read_channels(const struct reader *reader, struct readout *ret)
{
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < ret->n_sockets; i++) {
		struct uncore_socket socket = UNCORE_SOCKET_INIT;

		r = uncore_describe_socket(reader->handle, i, &socket);
		if (r == 0)
			r = uncore_read_channels(reader->handle, i, UNCORE_CACHED, &ret->samples[i],
				&ret->channels[socket.first_channel], socket.n_channels);
	}
	return r < 0 ? r : 0;
}

int reader_read(const struct reader *reader, const struct reader_wish *wish, struct readout *ret)
{
	int r = reader_make_room(ret, &reader->machine, wish->channels);

	if (r < 0)
		return r;
	ret->age_ns = 0;
	r = wish->use == READER_GAUGE ? read_gauge(reader, wish, ret)
				      : read_fresh(reader, wish, 0, ret);
	return r == 0 && wish->channels ? read_channels(reader, ret) : r;
}

int reader_take(struct reader *reader, const struct reader_wish *wish, struct readout *ret)
{
	int r = reader->handle ? reader_read(reader, wish, ret) : -ENOTCONN;

	if (!reader_may_renew(r))
		return r;
	r = reader_open(reader, wish->deadline_ns ? left_ns(wish->deadline_ns) : READER_CONNECT_NS);
	return r < 0 ? r : reader_read(reader, wish, ret);
}
