/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides when a peer is heard. Each message takes budget of the peer's account. If the account has
 * none left, the peer is parked before the message is read. The parked peers (peer.h) of one
 * account come back one by one. */
#pragma once

#include "daemon/serve/peer.h"

/* The size of the first message at @fd. 0: the client has left, or has sent an empty message, which
 * counts as leaving; -EAGAIN: no message is there yet. Errno of recv(2). */
int conversation_first_bytes(int fd);

/* Makes server->wake_source, at which parked peers are read from again. Errors of
 * sd_event_add_time(3). */
int conversation_start(struct server *server);

/* Hears the peer from now on. Errors of sd_event_add_io(3); the peer is freed then. */
int conversation_begin(struct peer *peer);
