/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/usage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/command/frame/user.h"
#include "client/records/json.h"
#include "common/text.h"

uint64_t usage_part(const struct json_value *user, const char *of, const char *key)
{
	return json_number(json_member(user, of), key);
}

static uint64_t cpu_ns(const struct json_value *user)
{
	return usage_part(user, "reads", "cpu_ns") + usage_part(user, "requests", "cpu_ns");
}

void usage_user(const struct json_value *user, char *buffer, size_t size_bytes)
{
	uint32_t uid = (uint32_t)json_number(user, "uid");

	if (!json_has(user, "uid")) {
		snprintf(buffer, size_bytes, "uids %" PRIu64 "-%" PRIu64,
			json_number(user, "first_uid"), json_number(user, "last_uid"));
		return;
	}
	snprintf(buffer, size_bytes, "%s (%" PRIu32 ")", user_name(uid), uid);
	text_make_plain(buffer);
}

/* The same user in another report, or NULL. */
static const struct json_value *usage_find_user(
	const struct json_value *report, const struct json_value *user)
{
	const char *key = json_has(user, "uid") ? "uid" : "first_uid";
	const struct json_value *users = json_list(report, "users");

	JSON_EACH (users, other)
		if (json_has(other, key) && json_number(other, key) == json_number(user, key))
			return other;
	return NULL;
}

/* A number that went down belongs to a new account. */
static uint64_t rise(uint64_t before, uint64_t now)
{
	return now >= before ? now - before : now;
}

static struct usage row_of(
	const struct json_value *user, const struct json_value *before, double window_ns)
{
	const struct json_value *then = usage_find_user(before, user);
	uint64_t sweeps =
		rise(usage_part(then, "reads", "sweeps"), usage_part(user, "reads", "sweeps"));

	return (struct usage){
		.user = user,
		.sweeps_per_s = (double)sweeps * 1e9 / window_ns,
		.cpu_percent = (double)rise(cpu_ns(then), cpu_ns(user)) * 100 / window_ns,
	};
}

/* Sorts by cost, highest first: between the reports, then in total. */
static int compare_rows(const void *a, const void *b)
{
	const struct usage *one = a, *other = b;
	uint64_t one_ns = cpu_ns(one->user), other_ns = cpu_ns(other->user);

	if (one->cpu_percent != other->cpu_percent)
		return one->cpu_percent < other->cpu_percent ? 1 : -1;
	return (one_ns < other_ns) - (one_ns > other_ns);
}

size_t usage_of(
	const struct json_value *before, const struct json_value *report, struct usage ret[])
{
	const struct json_value *users = json_list(report, "users");
	const uint64_t window_ns =
		rise(json_number(before, "uptime_ns"), json_number(report, "uptime_ns"));
	size_t n = 0;

	JSON_EACH (users, user)
		ret[n++] = row_of(user, before, window_ns ? (double)window_ns : 1e9);
	qsort(ret, n, sizeof *ret, compare_rows);
	return n;
}
