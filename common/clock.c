/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/clock.h"

uint64_t clock_ahead_ns;
