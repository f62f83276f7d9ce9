/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program may do with a handle, once all of it. */
#pragma once

#include "client/uncore.h"

/*
 * Asks for every name, socket, channel, value and reason, and for some that are not there; reads
 * all sockets cached, and with @fresh also through doorbells. Aborts where the library breaks its
 * word: a name without end, a number that it must not give, a misuse that passes.
 */
void handle_use(struct uncore *handle, int fresh);
