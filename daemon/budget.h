/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much of a CPU the sweeps of one socket may take, and who pays.
 *
 * Half of the budget is a pool that whoever rings may use. The other half is split evenly over the
 * doorbells, so a client that rings without pause empties the pool and its own share and must wait,
 * while its neighbour's share stays full. A sweep is paid for after it ran (a credit may go below
 * zero once), by the pool if it had credit, else by those who rang, in equal parts.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Time that may be spent, saved up at a rate. */
struct credit {
	int64_t left_ns;
	uint64_t as_of_ns; /* CLOCK_MONOTONIC */
};

struct budget {
	uint32_t percent;  /* of one CPU */
	uint64_t burst_ns; /* at most this much is saved up, by all together */
	struct credit pool;
};

void budget_init(struct budget *budget, uint32_t percent, uint32_t burst_ms, uint64_t now_ns);

/* Full credit for a new doorbell, one of @n_doorbells. */
struct credit budget_share(const struct budget *budget, unsigned n_doorbells, uint64_t now_ns);

/* 0: a sweep may begin for this doorbell now; else after so many ns. */
uint64_t budget_wait_ns(
	struct budget *budget, struct credit *share, unsigned n_doorbells, uint64_t now_ns);

/* Does the pool pay for a sweep of @cost_ns? If not, each of those who rang pays its part. */
bool budget_pool_pays(struct budget *budget, uint64_t cost_ns);
void budget_share_pays(struct credit *share, uint64_t cost_ns, unsigned n_rang);
