/* SPDX-License-Identifier: BSD-3-Clause */
/* uncored when it can serve: the loop of its main thread, with all events that it waits for. */
#pragma once

#include "daemon/base/fault.h"
#include "daemon/read/counters.h"
#include "daemon/serve/server.h"

/*
 * Serves @counters until SIGTERM or SIGINT. Says READY once. Returns the exit status, or an error
 * of server_begin() or of the event loop.
 */
int serving_run(struct server *server, struct counters *counters, struct fault *fault);
