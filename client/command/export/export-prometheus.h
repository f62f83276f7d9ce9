/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdio.h>

struct export_reading;

/* Writes a reading, or that there is none, as text for Prometheus. uncore(1) lists the metrics. */
void export_prometheus(FILE *out, const struct export_reading *reading);
