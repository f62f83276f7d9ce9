/* SPDX-License-Identifier: BSD-3-Clause */
/* Spans: passages that may end in another thread, and that nest with nothing. */
#pragma once

#include <stdint.h>

#include "client/markers/base/marker.h"

/* For interfaces that pass a number from the begin to the end. 0: it could not begin. */
uint64_t marker_span_begin(const struct marker *marker);
void marker_span_end(uint64_t span);

/* For interfaces that have a key of their own. */
struct marker_key {
	uint64_t words[4];
};

/* Does nothing if a span of this key is open. */
void marker_key_begin(const struct marker_key *key, const struct marker *marker);

/* Does nothing if no span of this key is open. */
void marker_key_end(const struct marker_key *key);
