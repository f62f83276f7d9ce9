/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Restarts uncored if counters have stopped for good although their socket has a CPU online again,
 * for example after its whole package was offline. Opening new counters takes the privilege that
 * uncored has given up. So uncored ends, and the service manager, which keeps its descriptors,
 * starts it again. The next process opens new counters.
 *
 * Without a service manager nothing is done, because ending would lose the counts of all other
 * counters.
 */
#pragma once

#include "daemon/serve/server.h"

enum { RESTART_EXIT_STATUS = 75 /* EX_TEMPFAIL of sysexits(3); the unit names it */ };

/* When a reader reports counters that stopped, and a restart can help, ends the loop by
 * sd_event_exit(3) with the status above. */
int restart_watch(struct server *server);
