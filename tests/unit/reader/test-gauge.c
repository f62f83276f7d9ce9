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
	fake_daemon_deafen(daemon);
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

CASE("a gauge takes the last sweep within the interval, and says its age")
{
	expect(600000 * MS, READER_GAUGE, 0);
}

CASE("a gauge takes no sweep that is older than the interval")
{
	expect(400 * MS, READER_GAUGE, -ETIMEDOUT);
}

CASE("where nothing is held back, a gauge is fresh or fails")
{
	expect(0, READER_GAUGE, -ETIMEDOUT);
}

CASE("a difference takes no sweep from before the call")
{
	expect(600000 * MS, READER_DIFFERENCE, -ETIMEDOUT);
}

CASE("a connection to another generation is refused as stale")
{
	const enum reader_use uses[] = { READER_DIFFERENCE, READER_GAUGE };

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
