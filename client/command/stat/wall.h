/* SPDX-License-Identifier: BSD-3-Clause */
/* The run time of the command of `uncore stat`, shown like a metric. */
#pragma once

#include <stdint.h>

#include "client/report/format.h"

/* The one value "wall_time", in ns, of @runs >= 1 runs. */
void wall_show(const uint64_t wall_ns[], uint32_t runs, struct format_socket *ret);
