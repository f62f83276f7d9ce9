/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides when parked peers (peer.h) are read from again: the peers of one account come back one by
 * one. */
#pragma once

#include <stdint.h>
#include <systemd/sd-event.h>

#include "daemon/serve/server.h"

/* Handler of server->wake_source; @server is a struct server. */
int parking_on_wake(sd_event_source *source, uint64_t usec, void *server);
