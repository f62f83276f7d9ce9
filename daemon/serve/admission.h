/* SPDX-License-Identifier: BSD-3-Clause */
/* Admission of clients: credentials, policy, and whether there is room. */
#pragma once

#include <stdbool.h>

#include "daemon/serve/peer.h"
#include "daemon/serve/server.h"

/*
 * Takes over *@fd, a connection just accepted, and links a peer into @server. If the policy refuses
 * the client, sends it an error message, closes the connection and returns 0, too. But if the
 * client has tables of teams to collect, it becomes a peer that may only do that (see peer.h).
 * -ENOMEM; -ENOSPC: no account is free; errno of getsockopt(2), setsockopt(2) and of the event
 * loop. -EAGAIN: there is no room, but @others_are_heard is false, so clients may have left; *@fd
 * is still the caller's.
 */
int admission_accept(struct server *server, int *fd, bool others_are_heard);

/* Applies a changed configuration: frees the peer if it may no longer connect. */
void admission_review(struct peer *peer);
