/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures of `./dev bench pcp`. All come from one run, one machine tree and one pmcd. */
#pragma once

#include "tests/bench/frame.h"
#include "tests/bench/pcp/client.h"

enum { BATCH = 16 };

/* Each measures from processes without privilege, and adds its figures. */
void measure_latency(const char *uncored_socket);
void measure_batch(const char *uncored_socket);

/* Times of each kind, which it sorts; those of a kind that was not measured are 0. */
void fetches_add(double *const us[KINDS], unsigned n);

/*
 * Every kind once, in a random order that is the same in each run and process, so that no kind
 * always comes after the same other, with its data in the caches.
 */
void shuffle_kinds(enum kind ret_order[KINDS]);
