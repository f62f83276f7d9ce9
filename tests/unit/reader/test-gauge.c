/* SPDX-License-Identifier: BSD-3-Clause */
/* Which sweeps answer a gauge and a difference, where uncored holds readings back. */
#include <errno.h>
#include <time.h>

#include "client/reader/reader.h"
#include "common/clock.h"
#include "common/macro.h"
#include "tests/harness/fake-daemon.h"
#include "tests/harness/test.h"

static const uint64_t MS = 1000000;

/* Sweeps once, then lets doorbells ring. */
static void start(struct fake_daemon *daemon, uint64_t min_interval_ns)
{
	fake_daemon_start(daemon, &(struct fake_options){ .min_interval_ns = min_interval_ns }, 1);
	daemon->deaf = true;
	for (uint32_t i = 0; i < daemon->n_sockets; i++)
		fake_daemon_sweep(daemon, i);
}

/* Waits for a fresh sweep for a moment; the last one was half a second ago. */
static int take(const struct fake_daemon *daemon, enum reader_use use, uint64_t *ret_age_ns)
{
	struct reader reader = { .socket_path = daemon->path };
	struct reader_wish wish = { .use = use, .patience_ns = 20 * MS };
	struct readout readout = { 0 };
	int r;

	nanosleep(&(struct timespec){ .tv_nsec = 500000000 }, NULL);
	assert_int_equal(reader_open(&reader, READER_CONNECT_NS), 0);
	wish.deadline_ns = clock_now_ns() + 100 * MS;
	r = reader_take(&reader, &wish, &readout);
	*ret_age_ns = readout.age_ns;
	readout_done(&readout);
	reader_close(&reader);
	return r;
}

static void expect(uint64_t min_interval_ns, enum reader_use use, int result)
{
	struct fake_daemon daemon;
	uint64_t age_ns = 0;

	start(&daemon, min_interval_ns);
	assert_int_equal(take(&daemon, use, &age_ns), result);
	if (result == 0)
		assert_true(age_ns >= 500 * MS && age_ns <= min_interval_ns);
	fake_daemon_stop(&daemon);
	fake_daemon_done(&daemon);
}

static void a_gauge_takes_the_last_sweep(void **state)
{
	(void)state;
	expect(600000 * MS, READER_GAUGE, 0);
}

static void a_gauge_takes_none_that_is_too_old(void **state)
{
	(void)state;
	expect(400 * MS, READER_GAUGE, -ETIMEDOUT);
}

static void a_gauge_waits_where_nothing_is_held_back(void **state)
{
	(void)state;
	expect(0, READER_GAUGE, -ETIMEDOUT);
}

static void a_difference_takes_no_last_sweep(void **state)
{
	(void)state;
	expect(600000 * MS, READER_DIFFERENCE, -ETIMEDOUT);
}

static void another_generation_is_stale(void **state)
{
	const enum reader_use uses[] = { READER_DIFFERENCE, READER_GAUGE };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(uses); i++) {
		const struct reader_wish wish = { .use = uses[i] };
		struct readout readout = { 0 };
		struct fake_daemon daemon;
		struct reader reader;

		fake_daemon_start(&daemon, NULL, 1);
		reader = (struct reader){ .socket_path = daemon.path };
		assert_int_equal(reader_take(&reader, &wish, &readout), 0);
		fake_daemon_stop(&daemon);
		fake_daemon_restart(&daemon, 1);
		assert_int_equal(reader_take(&reader, &wish, &readout), 0);
		fake_daemon_stop(&daemon);
		fake_daemon_restart(&daemon, 2);
		assert_int_equal(reader_take(&reader, &wish, &readout), -ESTALE);
		assert_int_equal(reader.n_connections, 2);
		readout_done(&readout);
		reader_close(&reader);
		fake_daemon_stop(&daemon);
		fake_daemon_done(&daemon);
	}
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		CASE("a gauge takes the last sweep within the interval, and says its age",
			a_gauge_takes_the_last_sweep),
		CASE("a gauge takes no sweep that is older than the interval",
			a_gauge_takes_none_that_is_too_old),
		CASE("where nothing is held back, a gauge is fresh or fails",
			a_gauge_waits_where_nothing_is_held_back),
		CASE("a difference takes no sweep from before the call",
			a_difference_takes_no_last_sweep),
		CASE("a connection to another generation is refused as stale",
			another_generation_is_stale),
	};

	return cmocka_run_group_tests_name("gauge", cases, NULL, NULL);
}
