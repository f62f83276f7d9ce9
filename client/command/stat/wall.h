/* SPDX-License-Identifier: BSD-3-Clause */
/* How long the command of `uncore stat` ran, shown as a metric is. */
#pragma once

#include <stdint.h>

#include "client/report/format.h"

/* The one value "wall_time", in ns, of @runs >= 1 runs. */
void wall_show(const uint64_t wall_ns[], uint32_t runs, struct format_socket *ret);
