/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The meter of the regions takes readings of all sockets. It opens its connection when it first
 * needs one, and again after a restart of the daemon. Threads read in parallel.
 */
#pragma once

#include <pthread.h>

#include "client/libuncore/internal.h"
#include "client/reader/reader.h"
#include "client/region/table.h"

struct meter {
	struct table *table;      /* borrowed; describes the measured machine */
	pthread_rwlock_t lock;    /* protects all below; held for reading while the reader reads */
	pthread_mutex_t renewing; /* of the thread that connects anew; taken before the other */
	struct reader reader;
	struct failure failure; /* of the last attempt to connect, or of a reading that timed out */
	uint64_t retry_at_ns;   /* no attempt before this time */
	bool has_failed;        /* the last attempt to connect failed */
	bool is_observers;      /* only the sockets of the members matter, not this process's */
};

void meter_init(struct meter *ret, struct table *table);

/* In a forked child: closes its copy of the handle in the parent's meter. */
void meter_disown(struct meter *parents);

/* Connects, unless it is connected. Errors as uncore_open(); -ESTALE. */
int meter_connect(struct meter *meter);

/*
 * A fresh reading of all sockets. Errors as uncore_open() and uncore_read_all(); -ESTALE: another
 * machine answers. -ETIMEDOUT: a reader has hung within the last ten seconds.
 */
int meter_read(struct meter *meter, struct readout *ret);
