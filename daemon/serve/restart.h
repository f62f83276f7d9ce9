/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters that stopped for good and whose socket has a CPU online again, as after its whole
 * package was offline. To open new ones takes the privilege that uncored has given up, so it ends:
 * the service manager, who keeps all there is, starts it again, and the next process opens them.
 *
 * Without a manager nothing is done: to end would lose the counts of all the others.
 */
#pragma once

#include "daemon/serve/server.h"

enum { RESTART_EXIT_STATUS = 75 /* EX_TEMPFAIL of sysexits(3); the unit knows it */ };

/* Acts when readers ask for attention; by sd_event_exit(3) with the status above. */
int restart_watch(struct server *server);
