/* SPDX-License-Identifier: BSD-3-Clause */
/* The job owner: the user whose job the node runs, as the batch system says. If only owners may
 * connect, a change of owner withdraws the page from all clients that have it. */
#pragma once

#include <stdint.h>

#include "daemon/serve/peer.h"
#include "daemon/serve/server.h"

/*
 * Makes @owner the job owner. If the owner changes and only owners may connect, withdraws the page
 * and disconnects all peers except @but; clients that may still connect then do so again. Errors of
 * counters_replace_page(): nothing has changed then.
 */
int job_owner_set(struct server *server, uint32_t owner, const struct peer *but);

/* Withdraws the page, publishes another one for @owner, and disconnects all peers except @but,
 * which may be NULL. Errors as above. */
int job_owner_withdraw(struct server *server, uint32_t owner, const struct peer *but);
