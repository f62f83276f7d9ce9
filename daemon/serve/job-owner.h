/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whose job the node runs, as the batch system says, and what follows where only owners may
 * connect: the page is withdrawn from all that have it.
 */
#pragma once

#include <stdint.h>

#include "daemon/serve/peer.h"
#include "daemon/serve/server.h"

/*
 * Notes that the job is @owner's. Where only owners may connect, and it is another: withdraws the
 * page and disconnects everybody but @but, so that clients that may connect do so anew. Errors of
 * counters_replace_page(), with nothing changed.
 */
int job_owner_set(struct server *server, uint32_t owner, const struct peer *but);

/* Withdraws the page, and publishes in another for @owner, as above; @but may be NULL. */
int job_owner_withdraw(struct server *server, uint32_t owner, const struct peer *but);
