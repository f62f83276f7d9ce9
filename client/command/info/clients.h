/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

/* `uncore info --clients`: who the clients of uncored are, and what they cost. Returns the exit
 * status. */
int clients_show(const char *socket_path, bool json);
