/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One connected client and everything it holds in the daemon: its connection, one doorbell per
 * socket, and its part of the bells of its user. All of it is charged to its uid when it connects,
 * and goes when it disconnects.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include "common/page.h"
#include "daemon/server.h"

struct peer_doorbell {
	int fd;   /* eventfd */
	int slot; /* in the socket's reader; negative: none */
};

struct peer {
	struct server *server; /* borrowed */
	struct peer *previous, *next;
	int fd;
	uid_t uid;
	bool welcomed;
	sd_event_source *source;
	struct bells *bells; /* its user's; NULL: not welcomed */
	unsigned n_doorbells;
	struct peer_doorbell doorbells[PAGE_SOCKETS_MAX];
};

/*
 * Takes over @fd, just accepted, and links a peer into @server. Whom the policy refuses gets an
 * error message and is closed. 0 also then; -ENOMEM and errno of the event loop.
 */
int peer_accept(struct server *server, int fd);

/* Applies a configuration that has changed: frees the peer if it may not connect any more. */
void peer_review(struct peer *peer);

/* Unlinks and frees the peer and all it holds. */
struct peer *peer_free(struct peer *peer);
