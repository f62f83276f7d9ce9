/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SIGHUP: the configuration is read again. What can change while the daemon runs, does, for those
 * who are connected, too; what needs a restart is named in the log and stays. A configuration that
 * is wrong changes nothing.
 */
#pragma once

#include "daemon/serve/server.h"

void reload(struct server *server);
