/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who the clients are and what they cost, as JSON, which `uncore info --clients` shows to root. Its
 * keys are fixed: uncore(1).
 */
#pragma once

#include "daemon/serve/server.h"

/* For free(3); NULL: out of memory. */
char *clients_json(struct server *server);
