/* SPDX-License-Identifier: BSD-3-Clause */
/* The readings of a job's course, where a count is missing for a time. */
#include <string.h>

#include "client/command/report/samples.h"
#include "common/clock.h"
#include "common/macro.h"
#include "tests/harness/fake-daemon.h"
#include "tests/harness/test.h"

struct course {
	struct fake_daemon daemon;
	struct samples samples;
};

/* Sweeps come quickly one after the other, as the next reading needs one of its own. */
static void begin(struct course *course, uint32_t quality)
{
	fake_daemon_start(&course->daemon, &(struct fake_options){ .quality = quality }, 1);
	course->samples = (struct samples){ .reader = { .socket_path = course->daemon.path } };
	samples_begin(&course->samples);
}

static void end(struct course *course)
{
	samples_done(&course->samples);
	fake_daemon_stop(&course->daemon);
	fake_daemon_done(&course->daemon);
}

static void take(struct course *course, uint32_t quality)
{
	course->daemon.options.quality = quality;
	course->samples.next_ns = 0;
	samples_take(&course->samples);
}

CASE("a count that is absent for a time makes an interval longer, and is told")
{
	struct course course;

	begin(&course, 0);
	assert_int_equal(course.samples.n, 1);
	take(&course, 0);
	assert_int_equal(course.samples.n, 2);
	assert_string_equal(course.samples.failure, "");
	take(&course, UNCORE_ABSENT);
	assert_int_equal(course.samples.n, 2);
	assert_non_null(strstr(course.samples.failure, "had no count"));
	take(&course, 0);
	assert_int_equal(course.samples.n, 3);
	assert_true(samples_rate(&course.samples, 1, 0) >= 0);
	assert_true(samples_rate(&course.samples, 1, 0) < 1);
	end(&course);
}

CASE("a count that went back is not a rate")
{
	struct course course;

	begin(&course, 0);
	take(&course, 0);
	assert_int_equal(course.samples.n, 2);
	course.samples.counts[course.daemon.n_sockets] = UINT64_MAX;
	take(&course, 0);
	assert_int_equal(course.samples.n, 2);
	assert_non_null(strstr(course.samples.failure, "below the last"));
	end(&course);
}
