/* SPDX-License-Identifier: BSD-3-Clause */
/* The reports that clients may ask for: the state of the daemon, all platforms, and all clients. */
#pragma once

#include "daemon/serve/server.h"

/*
 * The state of the daemon, which `uncore info` shows, and the clients and their costs, which
 * `uncore info --clients` shows to root. Their keys are fixed: uncored(8), uncore(1). The caller
 * frees the JSON with free(3). NULL: out of memory.
 */
char *state_json(const struct server *server);
char *clients_json(struct server *server);

/* Tells the service manager that uncored is ready, and in one line for `systemctl status` the
 * platform, the metrics that are served, and the policy. */
void state_tell(const struct server *server);
