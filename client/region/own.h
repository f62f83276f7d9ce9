/* SPDX-License-Identifier: BSD-3-Clause */
/* The sockets that are measured for this process: all, or with UNCORE_SOCKETS=own those on which it
 * could run when the library was loaded. */
#pragma once

#include "client/libuncore/uncore.h"

/* A bit for each socket of @handle. All, if the process's own sockets are not known. */
uint32_t own_sockets(const struct uncore *handle);
