/* SPDX-License-Identifier: BSD-3-Clause */
/* A trace in OTF2, as Score-P writes one: regions of threads with the values of metrics, and
 * metrics that have a location of their own. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/scorep/interface.h"

/* Makes the archive @folder/trace.otf2. */
void trace_open(const char *folder);

/* Values of @n metrics are written with each event of a thread (@is_strict), or at any time. */
void trace_define(const struct scorep_metric metrics[], uint32_t n, bool is_strict);

/* An event of a thread: of @thread, now. */
void trace_event(uint32_t thread, bool enters, const char *region, const uint64_t values[]);

/* A value of a metric that is not strict. */
void trace_value(uint32_t metric, struct scorep_pair pair);

/* Ticks of the trace's clock: ns. */
uint64_t trace_clock(void);

void trace_close(void);
