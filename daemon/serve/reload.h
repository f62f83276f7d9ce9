/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the configuration again at SIGHUP. Keys that can change while the daemon runs take effect,
 * for connected clients, too. Keys that need a restart are named in the log and keep their values.
 * A configuration that is wrong changes nothing.
 */
#pragma once

#include "daemon/serve/server.h"

void reload(struct server *server);
