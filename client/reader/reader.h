/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reader: a connection to uncored, and readings of all sockets over it. The command, the PCP
 * agent and the regions take their readings here, by one rule for which sweeps may answer them. A
 * connection is renewed if uncored was restarted or has withdrawn its page. If the generation is
 * the same afterwards, no count was lost.
 *
 * The caller decides whether and how often to try.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/libuncore/uncore.h"

enum reader_use {
	READER_DIFFERENCE, /* sweeps that began after the call, or a failure with the reason */
	READER_GAUGE, /* ... or the last sweeps, if they are no older than the site's interval */
};

struct reader_wish {
	enum reader_use use;
	bool channels;
	/* CLOCK_MONOTONIC: limit of connecting and reading. 0: a read waits until 10 s after it is
	 * due, as libuncore does; connecting takes at most READER_CONNECT_NS. */
	uint64_t deadline_ns;
	/* How long a gauge waits for fresh sweeps if the site holds reads back; 0: until they come.
	 * After that the last sweeps are used. */
	uint64_t patience_ns;
	unsigned attempts; /* at a read that times out; 0: one. For wishes without deadline. */
	uint32_t sockets;  /* bits of the sockets to read; 0: all. Only a difference may choose. */
};

/*
 * Without a connection figures are lost. uncored may have just been started on a busy machine,
 * where many ranks connect at once; see team_join().
 */
#define READER_CONNECT_NS 10000000000U

struct reader {
	const char *socket_path; /* borrowed; as for uncore_open() */
	struct uncore *handle;   /* NULL: not connected */
	unsigned n_connections;  /* so far */
	struct uncore_machine
		machine; /* of the last connection; .platform points to the member below */
	char platform[UNCORE_NAME_MAX];
};

/* The samples of one machine, one per socket. Initialise with { 0 }. */
struct readout {
	uint32_t n_sockets, n_channels;
	struct uncore_sample *samples; /* owned; NULL: there was no reading yet */
	struct uncore_channel_value
		*channels; /* owned; as uncore_describe_channel() numbers them */
	uint64_t age_ns; /* time from the begin of the oldest sweep to the call; 0: all began after
			    it */
};

/*
 * Connects, and replaces the present connection if there is one. Errors as uncore_open(); -ESTALE:
 * uncored has begun to count anew since. On failure the connection stays as it was. A child that is
 * forked meanwhile finds one of the two connections.
 */
int reader_open(struct reader *reader, uint64_t within_ns);

/* Closes the connection. The next one may have any generation. */
void reader_close(struct reader *reader);

/* May a new connection help? The daemon may have been restarted (-ENOTCONN: the old one is gone),
 * the page replaced (-EACCES: the old one was withdrawn), or this process forked (-EINVAL). */
bool reader_may_renew(int error);

/*
 * Reads over the present connection. Errors as uncore_read(). Threads may read in parallel, without
 * a deadline and without patience.
 */
int reader_read(const struct reader *reader, const struct reader_wish *wish, struct readout *ret);

/* Reads, over a new connection if there is none or if a new one may help. Errors as reader_open()
 * and reader_read(). */
int reader_take(struct reader *reader, const struct reader_wish *wish, struct readout *ret);

/* When it was complete. */
uint64_t readout_end_ns(const struct readout *readout);

void readout_done(struct readout *readout);

/* A sentence for @error of the functions above. */
const char *reader_failure(int error);
