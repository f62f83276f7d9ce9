/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A restart for counters that stopped for good, although their socket has a CPU online again, as
 * after its whole package was offline. To open new counters takes the privilege that uncored has
 * given up. So it ends: the service manager, which keeps its descriptors, starts it again, and the
 * next process opens them.
 *
 * Without a manager nothing is done: to end would lose the counts of all other counters.
 */
#pragma once

#include "daemon/serve/server.h"

enum { RESTART_EXIT_STATUS = 75 /* EX_TEMPFAIL of sysexits(3); the unit knows it */ };

/* When a reader reports counters that stopped, ends the loop, by sd_event_exit(3) with the status
 * above, if that can help. */
int restart_watch(struct server *server);
