/* SPDX-License-Identifier: BSD-3-Clause */
/* Drops tables of teams that ended long ago, or take too much memory. */
#pragma once

#include <systemd/sd-event.h>

#include "daemon/serve/server.h"

/* Looks at the tables now, and from then on every TEAMS_MEMORY_S or sooner, while there are any.
 * Errors of sd_event_add_time(3). */
int teams_watch_start(struct server *server);

/* To be called when there is a new table. */
void teams_watch_new(struct server *server);
