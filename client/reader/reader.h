/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reader: a connection to uncored, and readings of all sockets over it. The command, the agent of
 * PCP and the regions take their readings here, by one rule for which sweeps may answer them. A
 * connection is made anew where uncored was restarted or has withdrawn its page. Where the
 * generation is the same afterwards, no count was lost.
 *
 * How often to try, and whether to try at all, is the caller's decision.
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
	/* CLOCK_MONOTONIC: connecting and reading are over then. 0: a read waits until it is due
	 * and for 2 s more, as libuncore does; connecting takes at most READER_CONNECT_NS. */
	uint64_t deadline_ns;
	/* A gauge waits so long for fresh sweeps where the site holds reads back; 0: until they
	 * come. The last sweeps do after that. */
	uint64_t patience_ns;
	unsigned attempts; /* of a read that comes too late; 0: one. For wishes without deadline. */
	uint32_t sockets;  /* bits of the sockets to read; 0: all. Only a difference may choose. */
};

/*
 * Figures are lost where there is no connection, and uncored may have just been started on a busy
 * machine, where many ranks come at once; see team_join().
 */
#define READER_CONNECT_NS 10000000000U

struct reader {
	const char *socket_path;       /* borrowed; as for uncore_open() */
	struct uncore *handle;         /* NULL: not connected */
	unsigned n_connections;        /* so far */
	struct uncore_machine machine; /* of the last connection; .platform is the one below */
	char platform[UNCORE_NAME_MAX];
};

/* One per socket, with room for those of one machine. Begins as { 0 }. */
struct readout {
	uint32_t n_sockets, n_channels;
	struct uncore_sample *samples; /* owned; NULL: there was no reading yet */
	struct uncore_channel_value
		*channels; /* owned; as uncore_describe_channel() numbers them */
	uint64_t age_ns; /* so long before the call the oldest sweep began; 0: all began after it */
};

/*
 * Connects, in place of a connection that there may be. Errors as uncore_open(); -ESTALE: uncored
 * has begun to count anew since. A connection stays as it was on failure. A child that is forked
 * meanwhile finds one of the two connections.
 */
int reader_open(struct reader *reader, uint64_t within_ns);

/* Ends the connection. The next one may be of any generation. */
void reader_close(struct reader *reader);

/* Is there perhaps a new daemon (-ENOTCONN: the old one is gone), or a new page (-EACCES: the old
 * one was withdrawn), or was this process forked since (-EINVAL)? */
bool reader_may_renew(int error);

/*
 * Reads over the connection that there is. Errors as uncore_read(). Threads may read side by side,
 * without a deadline and without patience.
 */
int reader_read(const struct reader *reader, const struct reader_wish *wish, struct readout *ret);

/* Reads, over a new connection if there is none or if a new one may help. Errors as both above. */
int reader_take(struct reader *reader, const struct reader_wish *wish, struct readout *ret);

void readout_done(struct readout *readout);

/* A sentence on @error of the functions above. */
const char *reader_failure(int error);
