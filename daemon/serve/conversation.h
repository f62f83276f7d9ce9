/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a peer is heard: each message takes budget of its account, and a peer whose account has none
 * is parked before the message is read.
 */
#pragma once

#include "daemon/serve/peer.h"

/*
 * The size of the first message at @fd; 0: the client has gone again already, or has sent an empty
 * one, which is none; -EAGAIN: there is none yet. Errno of recv(2).
 */
int conversation_first_bytes(int fd);

/* Hears the peer from now on. Errors of sd_event_add_io(3); the peer is freed then. */
int conversation_begin(struct peer *peer);
