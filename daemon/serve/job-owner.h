/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The user whose job the node runs, as the batch system says. Where only owners may connect, a
 * change of owner withdraws the page from all clients that have it.
 */
#pragma once

#include <stdint.h>

#include "daemon/serve/peer.h"
#include "daemon/serve/server.h"

/*
 * Notes that the job is @owner's. If that is a change, and only owners may connect: withdraws the
 * page and disconnects all peers except @but, so that clients that may connect do so anew. Errors
 * of counters_replace_page(): nothing has changed then.
 */
int job_owner_set(struct server *server, uint32_t owner, const struct peer *but);

/* Withdraws the page, publishes in another one for @owner and disconnects all peers except @but,
 * which may be NULL. Errors as above. */
int job_owner_withdraw(struct server *server, uint32_t owner, const struct peer *but);
