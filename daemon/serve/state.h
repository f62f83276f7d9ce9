/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the daemon as JSON, which `uncore info` shows. Its keys are fixed: uncored(8). */
#pragma once

#include "daemon/serve/server.h"

/* The caller frees it with free(3). NULL: out of memory. */
char *state_json(const struct server *server);
