/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdio.h>

struct export_reading;

/*
 * Writes the bandwidths between two readings in InfluxDB's line protocol, as ClusterCockpit
 * understands it: uncore(1). Comments say what is missing and why.
 */
void export_clustercockpit(
	FILE *out, const struct export_reading *before, const struct export_reading *now);
