/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

/* Bytes that this process may still allocate before its cgroup's limit ends it; UINT64_MAX: there
 * is no limit. */
uint64_t memory_limit_bytes(void);
