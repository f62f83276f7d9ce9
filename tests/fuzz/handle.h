/* SPDX-License-Identifier: BSD-3-Clause */
/* Does once everything that a program may do with a handle. */
#pragma once

#include "client/libuncore/uncore.h"

/*
 * Asks for every name, socket, channel, value and reason, and for some that do not exist. Reads all
 * sockets cached, and with @fresh also through doorbells. Aborts where the library breaks its
 * promise: a name without end, a number that it must not give, a misuse that passes.
 */
void handle_use(struct uncore *handle, int fresh);
