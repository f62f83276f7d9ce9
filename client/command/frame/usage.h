/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells which users read, and what that costs: from two reports of uncored's clients, one after the
 * other. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct json_value;

/* A user, and what uncored did for that user between the reports. */
struct usage {
	const struct json_value *user;
	double sweeps_per_s, cpu_percent;
};

/* The number @key in the part @of of a user: "reads", "requests". */
uint64_t usage_part(const struct json_value *user, const char *of, const char *key);

/* All users of @report, those first that cost most since @before (NULL: as if that were a second
 * ago). @ret has room for as many as there are. Returns their number. */
size_t usage_of(
	const struct json_value *before, const struct json_value *report, struct usage ret[]);

/* "alice (1001)", or "uids 1001-1099", as plain text. */
void usage_user(const struct json_value *user, char *buffer, size_t size_bytes);
