/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a peer is heard. Each message takes budget of the peer's account; if the account has none,
 * the peer is parked before the message is read.
 */
#pragma once

#include "daemon/serve/peer.h"

/*
 * The size of the first message at @fd; 0: the client has gone already, or has sent an empty
 * message, which counts as none; -EAGAIN: there is none yet. Errno of recv(2).
 */
int conversation_first_bytes(int fd);

/* Hears the peer from now on. Errors of sd_event_add_io(3); the peer is freed then. */
int conversation_begin(struct peer *peer);
