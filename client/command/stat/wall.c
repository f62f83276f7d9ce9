/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/stat/wall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/frame/range.h"
#include "common/macro.h"

static double mean_of(const uint64_t values[], uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += (double)values[i];
	return sum / n;
}

static double deviation_of(const uint64_t values[], uint32_t n, double mean)
{
	double squares = 0;

	for (uint32_t i = 0; i < n; i++)
		squares += pow((double)values[i] - mean, 2);
	return n > 1 ? sqrt(squares / (n - 1)) : 0;
}

void wall_show(const uint64_t wall_ns[], uint32_t runs, struct format_socket *ret)
{
	_cleanup_free_ uint64_t *sorted = calloc(runs, sizeof *sorted);
	double mean = mean_of(wall_ns, runs);
	struct range range = {};

	if (sorted) {
		memcpy(sorted, wall_ns, runs * sizeof *sorted);
		range_of(sorted, runs, &range);
	}
	*ret = (struct format_socket){
		.socket = FORMAT_ALL_SOCKETS,
		.package = -1,
		.n_values = 1,
		.repeated = runs > 1,
		.ranged = runs > 1 && sorted,
	};
	ret->values[0] = (struct format_value){
		.name = "wall_time",
		.unit = "ns",
		.count = (uint64_t)llround(mean),
		.deviation = deviation_of(wall_ns, runs, mean),
		.median = range.median,
		.min = range.min,
		.max = range.max,
	};
}
