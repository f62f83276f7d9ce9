/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/estimate/sums.h"

#include <stddef.h>

size_t sums_block_bytes(const struct estimate *estimate)
{
	return sizeof(struct sums_block) +
	       sizeof(struct sums_series) * estimate->n_sockets * estimate->n_metrics;
}

size_t estimate_bytes(uint32_t n_sockets, uint32_t n_metrics)
{
	struct estimate estimate = { .n_sockets = n_sockets, .n_metrics = n_metrics };
	uint64_t n_series = (uint64_t)n_sockets * n_metrics;

	if (!n_series || n_series > ESTIMATE_SERIES_MAX)
		return 0;
	return sizeof(struct sums_header) + n_series * sizeof(struct sums_loads) +
	       SUMS_GRAM * sizeof(double) + ESTIMATE_BLOCKS * sums_block_bytes(&estimate);
}

struct sums_header *sums_header(const struct estimate *estimate)
{
	return estimate->memory;
}

struct sums_loads *sums_loads(const struct estimate *estimate, uint32_t series)
{
	char *loads = (char *)estimate->memory + sizeof(struct sums_header);

	return (struct sums_loads *)loads + series;
}

double *sums_scratch(const struct estimate *estimate)
{
	return (double *)sums_loads(estimate, estimate->n_sockets * estimate->n_metrics);
}

struct sums_block *sums_block(const struct estimate *estimate, uint32_t index)
{
	char *blocks = (char *)(sums_scratch(estimate) + SUMS_GRAM);

	return (struct sums_block *)(blocks + index * sums_block_bytes(estimate));
}
