/* SPDX-License-Identifier: BSD-3-Clause */
/* Admission of clients: credentials, policy, and whether there is room. */
#pragma once

#include <stdbool.h>

#include "daemon/serve/peer.h"
#include "daemon/serve/server.h"

/*
 * Takes over *@fd, just accepted, and links a peer into @server. If the policy refuses the client,
 * sends it an error message and closes the connection, unless the client has tables of teams to
 * collect (see peer.h); returns 0 then, too. -ENOMEM and errno of
 * the event loop. -EAGAIN, with *@fd still the caller's: there is no room, but not all
 * @others_are_heard, and some of them may have left.
 */
int admission_accept(struct server *server, int *fd, bool others_are_heard);

/* Applies a configuration that has changed: frees the peer if it may not connect any more. */
void admission_review(struct peer *peer);
