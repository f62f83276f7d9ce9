/* SPDX-License-Identifier: BSD-3-Clause */
/* What the real daemon tells its clients: rounded values, and sweeps that are kept apart.
 */
#include "tests/harness/daemon-process.h"
#include "tests/harness/test.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/clock.h"

enum { QUANTUM = 1000000, INTERVAL_MS = 200, CLIENTS = 8, CHANNELS_MAX = 64 };

static const uint64_t INTERVAL_NS = INTERVAL_MS * UINT64_C(1000000);

/* --- quantum --- */

struct reading {
	struct uncore_sample sample;
	struct uncore_channel_value channels[CHANNELS_MAX];
	int n_channels;
};

static int read_channels(struct uncore *uncore, struct reading *ret)
{
	ret->sample.size = sizeof ret->sample;
	ret->n_channels = uncore_read_channels(
		uncore, 0, UNCORE_FRESH, &ret->sample, ret->channels, CHANNELS_MAX);
	return ret->n_channels < 0 ? ret->n_channels : 0;
}

static bool is_in_bytes(const struct uncore *uncore, uint32_t metric)
{
	return !strcmp(uncore_metric_unit(uncore, metric), "bytes");
}

/* 0: every value in bytes is rounded, and none is less than before. */
static int check_rounding(
	const struct uncore *uncore, const struct reading *before, const struct reading *now)
{
	struct uncore_channel channel = UNCORE_CHANNEL_INIT;

	for (uint32_t m = 0; m < now->sample.n_values; m++) {
		uint64_t count = now->sample.values[m].count;

		if (count < before->sample.values[m].count)
			return 1;
		if (is_in_bytes(uncore, m) && count % QUANTUM)
			return 2;
	}
	for (int c = 0; c < now->n_channels; c++) {
		if (now->channels[c].count < before->channels[c].count)
			return 3;
		uncore_describe_channel(uncore, (uint32_t)c, &channel);
		if (is_in_bytes(uncore, channel.metric) && now->channels[c].count % QUANTUM)
			return 4;
	}
	return 0;
}

/* 400 pages in each of 50 readings are 81 quanta and a rest. */
static int read_while_pages_are_touched(void *socket_path)
{
	struct reading readings[2] = {};
	struct uncore *uncore;
	uint64_t first = 0;
	int metric, r = 0;

	pin_to_cpu(0);
	if (uncore_open(socket_path, &uncore) < 0)
		return 90;
	metric = uncore_find_metric(uncore, "dram.read");
	for (unsigned i = 0; i < 50 && !r; i++) {
		struct reading *now = &readings[i % 2];

		touch_pages(400);
		if (read_channels(uncore, now) < 0)
			return 91;
		r = check_rounding(uncore, &readings[1 - i % 2], now);
		if (i == 0)
			first = now->sample.values[metric].count;
	}
	if (!r && readings[1].sample.values[metric].count < first + 49 * 400 * 4096 - QUANTUM)
		r = 5;
	uncore_close(uncore);
	return r;
}

CASE("values and channels are rounded down to the quantum and never go back")
{
	char config[64];
	struct daemon_process daemon = {};
	int r;

	snprintf(config, sizeof config, "[disclosure]\nquantum = %d\n", QUANTUM);
	daemon_start(&daemon, "standin", config);
	r = as_nobody(read_while_pages_are_touched, daemon.socket_path);
	daemon_stop(&daemon);
	assert_int_equal(r, 0);
}

/* Reads the stand-in's clock, whose unit is ns: its count where there is one; its reason. */
static struct uncore_value read_clock(const struct daemon_process *daemon, char ret_why[256])
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct uncore_value value = {};
	struct uncore *uncore;
	int metric;

	assert_int_equal(uncore_open(daemon->socket_path, &uncore), 0);
	metric = uncore_find_metric(uncore, "clock");
	assert_true(metric >= 0);
	assert_int_equal(uncore_read(uncore, 0, UNCORE_FRESH, &sample), 0);
	value = sample.values[metric];
	snprintf(ret_why, 256, "%s", uncore_why(uncore, value.why));
	uncore_close(uncore);
	return value;
}

/* Does the daemon's own report say that the clock of socket 0 is absent, and @why? */
static bool report_says(const struct daemon_process *daemon, const char *why)
{
	struct json_object *info = daemon_info(daemon), *metrics, *clock, *socket, *found;
	const char *text = "";

	metrics = json_object_object_get(info, "metrics");
	clock = json_object_array_get_idx(metrics, json_object_array_length(metrics) - 1);
	assert_string_equal(json_object_get_string(json_object_object_get(clock, "name")), "clock");
	socket = json_object_array_get_idx(json_object_object_get(clock, "sockets"), 0);
	if (json_object_object_get_ex(socket, "why", &found))
		text = json_object_get_string(found);
	printf("# %s\n", json_object_get_string(socket));
	bool same =
		!strcmp(text, why) && !strstr(json_object_get_string(socket), "absent") == !*why;
	json_object_put(info);
	return same;
}

CASE("what cannot be rounded is absent while there is a quantum")
{
	static const char expected[] =
		"the site rounds values down to multiples of some bytes (quantum in "
		"uncored.conf), and this value is not in bytes";
	struct uncore_value begin, hidden, again, end;
	struct daemon_process daemon = {};
	char why[4][256];
	bool told, told_again;

	daemon_start(&daemon, "standin", "");
	begin = read_clock(&daemon, why[0]);
	daemon_reload(&daemon, "[disclosure]\nquantum = 64\n");
	hidden = read_clock(&daemon, why[1]);
	touch_pages(1000);
	again = read_clock(&daemon, why[2]);
	told = report_says(&daemon, expected);
	daemon_reload(&daemon, "");
	end = read_clock(&daemon, why[3]);
	told_again = report_says(&daemon, "");
	daemon_stop(&daemon);
	assert_false(begin.quality & UNCORE_ABSENT);
	assert_true(hidden.quality & UNCORE_ABSENT);
	assert_string_equal(why[1], expected);
	assert_string_equal(why[2], expected);
	assert_true(hidden.count == again.count); /* nothing is told */
	assert_true(told);
	assert_false(end.quality & UNCORE_ABSENT);
	assert_true(end.count > again.count); /* nothing is lost */
	assert_true(told_again);
}

/* --- intervals --- */

/* Reads without pause for a second, within the library's own limit. */
static int read_for_a_second(void *socket_path)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	uint64_t end_ns = clock_now_ns() + 1000000000, called_ns;
	struct uncore *uncore;

	if (uncore_open(socket_path, &uncore) < 0)
		return 1;
	while ((called_ns = clock_now_ns()) < end_ns) {
		if (uncore_read(uncore, 0, UNCORE_FRESH, &sample) < 0) {
			printf("# %s\n", uncore_error_text());
			fflush(stdout);
			return 2;
		}
		if (sample.begin_ns < called_ns)
			return 3;
	}
	uncore_close(uncore);
	return 0;
}

/* Sweeps of socket 0 and the time that passed while CLIENTS of @n_users users read it. */
struct flood {
	uint64_t n_sweeps, took_ns;
	int failed;
};

static struct flood flood(struct daemon_process *daemon, unsigned n_users)
{
	struct flood result = { .n_sweeps = daemon_socket_number(daemon, 0, "sweeps") };
	uint64_t begin_ns = clock_now_ns();
	pid_t clients[CLIENTS];

	for (unsigned i = 0; i < CLIENTS; i++)
		clients[i] = start_as(NOBODY - i % n_users, read_for_a_second, daemon->socket_path);
	for (unsigned i = 0; i < CLIENTS; i++) {
		int r = wait_for(clients[i], 30);

		if (r)
			result.failed = r;
	}
	/* uncored makes a report anew after a tenth of a second. */
	usleep(150000);
	result.took_ns = clock_now_ns() - begin_ns;
	result.n_sweeps = daemon_socket_number(daemon, 0, "sweeps") - result.n_sweeps;
	return result;
}

static struct flood flood_with(const char *key, unsigned n_users)
{
	struct daemon_process daemon = {};
	struct flood result;
	char config[80];

	snprintf(config, sizeof config, "[disclosure]\n%s = %d\n", key, INTERVAL_MS);
	daemon_start(&daemon, "standin", config);
	result = flood(&daemon, n_users);
	daemon_stop(&daemon);
	printf("# %s, %u users: %u sweeps in %u ms\n", key, n_users, (unsigned)result.n_sweeps,
		(unsigned)(result.took_ns / 1000000));
	return result;
}

CASE("a batch that reads without pause shares the sweeps that are due")
{
	struct flood result = flood_with("min_interval_ms", 2);

	assert_int_equal(result.failed, 0);
	assert_in_range(result.n_sweeps, 2, result.took_ns / INTERVAL_NS + 1);
}

CASE("each user causes no more sweeps than the interval per user allows")
{
	struct flood one = flood_with("min_interval_per_user_ms", 1);
	struct flood three = flood_with("min_interval_per_user_ms", 3);

	assert_int_equal(one.failed, 0);
	assert_int_equal(three.failed, 0);
	assert_in_range(one.n_sweeps, 2, one.took_ns / INTERVAL_NS + 1);
	assert_in_range(three.n_sweeps, 2, 3 * (three.took_ns / INTERVAL_NS + 1));
}

/* The second read comes within the interval after the first. */
static int set_a_short_limit(void *socket_path)
{
	struct uncore_daemon about = UNCORE_DAEMON_INIT;
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct uncore *uncore;

	if (uncore_open(socket_path, &uncore) < 0 ||
		uncore_read(uncore, 0, UNCORE_FRESH, &sample) < 0)
		return 1;
	uncore_describe_daemon(uncore, &about);
	if (about.min_interval_ns != 60000000000)
		return 2;
	uncore_set_timeout(uncore, 20000000);
	if (uncore_read(uncore, 0, UNCORE_FRESH, &sample) != -ETIMEDOUT)
		return 3;
	if (!strstr(uncore_error_text(), "the site holds reads back"))
		return 4;
	/* Cached reads still see the sweeps that other clients caused, or the daemon itself. */
	if (uncore_read(uncore, 0, UNCORE_CACHED, &sample) < 0)
		return 5;
	uncore_close(uncore);
	return 0;
}

CASE("a time limit that a program sets is strict")
{
	struct daemon_process daemon = {};
	int r;

	daemon_start(&daemon, "standin", "[disclosure]\nmin_interval_per_user_ms = 60000\n");
	r = as_nobody(set_a_short_limit, daemon.socket_path);
	daemon_stop(&daemon);
	assert_int_equal(r, 0);
}

int main(void)
{
	return run_privileged_cases(NULL, NULL);
}
