/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures of `./dev bench pcp`. All come from one run, one machine tree and one pmcd. */
#pragma once

#include "tests/bench/pcp/client.h"

enum { BATCH = 16 };

struct spread {
	double median_us, p99_us;
};

struct figures {
	struct spread asleep[KINDS], busy[KINDS]; /* one client, asleep or busy before each read */
	struct spread batch[KINDS];               /* each of BATCH at once */
};

/* Each measures from processes without privilege. */
void measure_latency(const char *uncored_socket, struct figures *ret);
void measure_batch(const char *uncored_socket, struct figures *ret);

/* The spread of @n times, which it sorts. */
struct spread spread_of(double us[], unsigned n);

/*
 * Every kind once, in a random order that is the same in each run and process, so that no kind
 * always comes after the same other, with its data in the caches.
 */
void shuffle_kinds(enum kind ret_order[KINDS]);

/* Memory that children fill in for their parent. */
void *shared_memory(uint64_t size_bytes);
