/* SPDX-License-Identifier: BSD-3-Clause */
/* The line of `uncore stat` about what the sockets did just before the command. */
#include <string.h>

#include "client/command/stat/stat-run.h"
#include "common/macro.h"
#include "tests/harness/fake-daemon.h"
#include "tests/harness/test.h"

enum { RESULT = 1000000 };
static const uint64_t SECOND_NS = 1000000000;

/* One run of a second, in which each socket read so many bytes. */
static void fill(struct total *total, uint64_t n_bytes, uint64_t skew_ns)
{
	assert_int_equal(total_init(total, FAKE_SOCKETS, NULL), 0);
	total->runs = 1;
	for (uint32_t s = 0; s < FAKE_SOCKETS; s++) {
		total->sockets[s].window_ns = SECOND_NS;
		total->sockets[s].skew_ns = skew_ns;
		total->sockets[s].values[FAKE_READ].sum = n_bytes;
	}
}

/* What is told of such a second before one of RESULT bytes. */
static void note(struct uncore *handle, uint64_t n_idle, uint64_t skew_ns, char ret_text[512])
{
	struct stat_run run = { .reader.handle = handle };

	memset(ret_text, 0, 512);
	run.out = fmemopen(ret_text, 512, "w");
	assert_non_null(run.out);
	fill(&run.idle, n_idle, skew_ns);
	fill(&run.total, RESULT, 0);
	background_note(&run);
	assert_int_equal(fclose(run.out), 0);
	total_done(&run.idle);
	total_done(&run.total);
}

CASE("a background is told if it surely is above 5 % of the result")
{
	static const struct {
		uint64_t n_idle, skew_ns;
		bool is_told;
	} moments[] = {
		{ 0, 0, false },
		{ RESULT / 20 - 1000, 0, false },
		{ RESULT / 20 + 1000, 0, true },
		{ RESULT / 20 + 1000, SECOND_NS / 10, false }, /* it may be 10 % less */
		{ RESULT / 17, SECOND_NS / 10, true },
		{ 3 * RESULT, 0, true },
	};
	struct fake_daemon daemon;
	struct uncore *handle;
	char text[512];

	fake_daemon_start(&daemon, NULL, 1);
	assert_int_equal(uncore_open(daemon.path, &handle), 0);
	for (size_t i = 0; i < ARRAY_SIZE(moments); i++) {
		note(handle, moments[i].n_idle, moments[i].skew_ns, text);
		if (moments[i].is_told)
			assert_non_null(strstr(text, " Just before it, the sockets moved 0.00"));
		else
			assert_string_equal(text, "");
	}
	uncore_close(handle);
	fake_daemon_stop(&daemon);
	fake_daemon_done(&daemon);
}
