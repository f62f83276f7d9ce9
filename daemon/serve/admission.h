/* SPDX-License-Identifier: BSD-3-Clause */
/* Who may come in: credentials, policy, and whether there is room. */
#pragma once

#include <stdbool.h>

#include "daemon/serve/peer.h"
#include "daemon/serve/server.h"

/*
 * Takes over *@fd, just accepted, and links a peer into @server. A client that the
 * policy refuses gets an error message and is closed. 0 also then; -ENOMEM and errno of the event
 * loop. -EAGAIN, with *@fd still the caller's: there is no room, and not all @others_are_heard,
 * some of which may have left.
 */
int admission_accept(struct server *server, int *fd, bool others_are_heard);

/* Applies a configuration that has changed: frees the peer if it may not connect any more. */
void admission_review(struct peer *peer);
