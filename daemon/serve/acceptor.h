/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes in the connections that wait at the listening socket, and decides when: newcomers go before
 * the requests of peers, and nobody is accepted while there is no room.
 */
#pragma once

#include <systemd/sd-event.h>

#include "daemon/base/log-limit.h"
#include "daemon/serve/listener.h"
#include "daemon/serve/server.h"

struct acceptor {
	struct server *server;         /* borrowed */
	sd_event_source *retry_source; /* while nobody is accepted */
	int waiting[LISTENER_AT_ONCE]; /* accepted, and there may be room when all others are heard
					*/
	unsigned n_waiting;
	struct log_limit lost, paused; /* lines that clients can cause */
};

/* Begins. Both must live as long as server->event. Errors of sd_event_add_io(3). */
int acceptor_start(struct acceptor *acceptor, struct server *server);

/* All events are done, and the loop is about to sleep. */
void acceptor_at_rest(struct acceptor *acceptor);

/* Closes what waits. For every acceptor_start(), a failed one too. */
void acceptor_stop(struct acceptor *acceptor);
