/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

/* Locks the file @fd (flock(2)). -ETIMEDOUT: another process held the lock until @deadline_ns. */
int lock_until(int fd, uint64_t deadline_ns);
