/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much of a CPU the sweeps of one socket may take, and who pays.
 *
 * The budget is split evenly over the users that have doorbells here. Each saves up its share while
 * it does not ring, up to its part of the burst. Who rings is charged for all that the ring cost,
 * after it; credit may so go below zero, and then its doorbells wait. What one user spends is never
 * another's, however many connections it has; and it stays spent when they close.
 */
#pragma once

#include <stdint.h>

struct account {
	uint32_t uid;
	unsigned n_doorbells; /* 0: kept for what it owes */
	unsigned n_rang;      /* since the last charge */
	int64_t left_ns;
	uint64_t as_of_ns; /* CLOCK_MONOTONIC */
};

struct budget {
	uint32_t percent;  /* of one CPU, for all users together */
	uint64_t burst_ns; /* at most this much is saved up, by all together */
	unsigned n_users;  /* accounts with doorbells */
	unsigned n_accounts, max_accounts;
	struct account *accounts; /* owned */
};

/* @max_accounts: as many as there may be doorbells. 0, -ENOMEM. */
int budget_init(struct budget *budget, uint32_t percent, uint32_t burst_ms, unsigned max_accounts);
void budget_done(struct budget *budget);

/* A doorbell of @uid comes: the index of the account that pays for it. It begins with nothing. */
unsigned budget_enter(struct budget *budget, uint32_t uid, uint64_t now_ns);
void budget_leave(struct budget *budget, unsigned account);

/* A ring: 0, it may be answered now; else after so many ns. */
uint64_t budget_ring(struct budget *budget, unsigned account, uint64_t now_ns);

/* Splits @cost_ns over those who rang since the last charge. */
void budget_charge(struct budget *budget, uint64_t cost_ns);
