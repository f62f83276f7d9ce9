/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The meter of the regions: readings of all sockets, over a connection that is opened when it is
 * first needed and opened again when the daemon was restarted. Threads read side by side.
 */
#pragma once

#include <pthread.h>

#include "client/libuncore/internal.h"
#include "client/reader/reader.h"
#include "client/region/table.h"

struct meter {
	struct table *table;   /* borrowed: says which machine is measured */
	pthread_rwlock_t lock; /* of all below; held for reading while the reader reads */
	struct reader reader;
	struct failure failure; /* of the last attempt to connect, or reading that came too late */
	uint64_t retry_at_ns;   /* no attempt before this time */
	bool has_failed;        /* the last attempt to connect */
};

void meter_init(struct meter *ret, struct table *table);

/* In a forked child: closes its copy of the handle in the parent's meter. */
void meter_disown(struct meter *parents);

/*
 * A fresh reading of all sockets. Errors as uncore_open() and uncore_read_all(); -ESTALE: another
 * machine answers. -ETIMEDOUT: a reader stood still, at most ten seconds ago.
 */
int meter_read(struct meter *meter, struct readout *ret);
