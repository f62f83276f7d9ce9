/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides when a peer is heard. Each message is charged to the peer's account as soon as it is
 * answered. If the account has no budget, the peer is parked (peer.h) before its next message is
 * read, without exception, and behind the account's peers that are parked already. They are heard
 * in this order when the account has paid. Accounts take turns.
 */
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
