/* SPDX-License-Identifier: BSD-3-Clause */
/* uncored when it can serve: the loop of its main thread, with all events that it waits for. */
#pragma once

#include "daemon/base/fault.h"
#include "daemon/read/counters.h"
#include "daemon/serve/server.h"

enum { RESTART_EXIT_STATUS = 75 /* EX_TEMPFAIL of sysexits(3); the unit names it */ };

/*
 * Serves @counters until SIGTERM or SIGINT. Says READY once. Returns the exit status, or an error
 * of server_begin() or of the event loop.
 */
int serving_run(struct server *server, struct counters *counters, struct fault *fault);

/* --- what changes or ends it --- */

/*
 * Reads the configuration again at SIGHUP, and who owns subordinate ids. Keys that can change while
 * the daemon runs take effect, for connected clients, too. Keys that need a restart are named in
 * the log and keep their values. A configuration that is wrong changes nothing.
 */
void reload(struct server *server);

/* When a reader reports counters that stopped, and a restart can help, ends the loop by
 * sd_event_exit(3) with the status above. */
int restart_watch(struct server *server);
