/* SPDX-License-Identifier: BSD-3-Clause */
/* Accepts the connections that wait at the listening socket, and decides when. Newcomers have
 * priority over the requests of peers. Accepting pauses while there is no room. */
#pragma once

#include <systemd/sd-event.h>

#include "daemon/base/log-limit.h"
#include "daemon/serve/listener.h"
#include "daemon/serve/server.h"

struct acceptor {
	struct server *server;         /* borrowed */
	sd_event_source *retry_source; /* on while accepting pauses */
	int waiting[LISTENER_AT_ONCE]; /* accepted; wait for room */
	unsigned n_waiting;
	struct log_limit lost, paused; /* log lines that clients can cause */
};

/* Begins to accept. @acceptor and @server must live as long as server->event. Errors of
 * sd_event_add_io(3). */
int acceptor_start(struct acceptor *acceptor, struct server *server);

/* To be called when all events are done and the loop is about to sleep. */
void acceptor_at_rest(struct acceptor *acceptor);

/* Closes the connections that wait. To be called for every acceptor_start(), even a failed one. */
void acceptor_stop(struct acceptor *acceptor);
