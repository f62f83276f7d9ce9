/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/count/generation.h"

/* With these flags the values may differ because boxes are missing or did not always count. */
static const uint32_t INCOMPARABLE = PAGE_ABSENT | PAGE_PARTIAL | PAGE_ESTIMATED | PAGE_FROZEN;

/* The resolution of a metric: each of its boxes may be one count behind. */
static uint64_t coarseness(const struct plan *plan, unsigned socket, unsigned metric)
{
	const struct plan_socket *s = &plan->sockets[socket];
	uint64_t worth = 0;

	for (unsigned i = s->first_box; i < s->first_box + s->n_boxes; i++)
		for (unsigned k = 0; k < plan->boxes[i].n_uses; k++)
			if (plan->boxes[i].uses[k].metric == metric)
				worth += scale_round_up(plan->boxes[i].uses[k].scale);
	return worth;
}

bool agreement_find(const struct generation *generation, unsigned socket, unsigned metric,
	uint32_t quantum, double *ret_ratio)
{
	const struct page_header *page = generation->shared_page.header;
	int check = platform_check_of(generation->plan->platform, metric);
	uint64_t enough = 64 << 20;
	const struct page_value *value, *other;
	struct page_sweep sweep;

	if (check < 0 || page_copy(page_cell(page, socket), &sweep, page->n_metrics, NULL, 0) < 0)
		return false;
	value = &sweep.values[metric];
	other = &sweep.values[check];
	enough += 64 * (coarseness(generation->plan, socket, metric) +
			       coarseness(generation->plan, socket, (unsigned)check) + quantum);
	if ((value->quality | other->quality) & INCOMPARABLE ||
		(value->count < enough && other->count < enough))
		return false;
	*ret_ratio = other->count ? (double)value->count / (double)other->count : 1e9;
	return true;
}
