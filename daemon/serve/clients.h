/* SPDX-License-Identifier: BSD-3-Clause */
/* The clients and their costs as JSON, which `uncore info --clients` shows to root. Its keys are
 * fixed: uncore(1). */
#pragma once

#include "daemon/serve/server.h"

/* The caller frees it with free(3). NULL: out of memory. */
char *clients_json(struct server *server);
