/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs that were built with another uncore.h than the library. */
#include "client/libuncore/sized.h"

#include <errno.h>
#include <string.h>

#include "tests/harness/fake-daemon.h"
#include "tests/harness/test.h"

enum { MORE = 16, UNTOUCHED = 0x5a };

/* --- a struct that has grown since the first release --- */

struct first {
	uint32_t size;
	uint32_t number;
};

struct grown {
	uint32_t size;
	uint32_t number;
	uint64_t news;
};

static const struct sized sized_grown = { .name = "grown",
	.init = "UNCORE_GROWN_INIT",
	.least_bytes = sizeof(struct first),
	.bytes = sizeof(struct grown),
	.alignment = _Alignof(struct grown) };

static const struct grown ours = { .number = 7, .news = 8 };

CASE("an older program's struct is filled as far as it goes")
{
	struct {
		struct first first;
		uint8_t behind[MORE];
	} theirs;

	memset(&theirs, UNTOUCHED, sizeof theirs);
	theirs.first.size = sizeof theirs.first;
	assert_int_equal(sized_check(&sized_grown, &theirs), 0);
	sized_fill(&sized_grown, &theirs, &ours);
	assert_int_equal(theirs.first.size, sizeof theirs.first);
	assert_int_equal(theirs.first.number, 7);
	for (int i = 0; i < MORE; i++)
		assert_int_equal(theirs.behind[i], UNTOUCHED);
}

CASE("a struct of this release is filled whole")
{
	struct grown theirs = { .size = sizeof theirs };

	assert_int_equal(sized_check(&sized_grown, &theirs), 0);
	sized_fill(&sized_grown, &theirs, &ours);
	assert_int_equal(theirs.size, sizeof theirs);
	assert_int_equal(theirs.number, 7);
	assert_int_equal(theirs.news, 8);
}

CASE("members that only a newer program's struct has are zero")
{
	struct {
		struct grown grown;
		uint8_t newer[MORE];
		uint8_t behind[MORE];
	} theirs;

	memset(&theirs, UNTOUCHED, sizeof theirs);
	theirs.grown.size = sizeof theirs.grown + MORE;
	assert_int_equal(sized_check(&sized_grown, &theirs), 0);
	sized_fill(&sized_grown, &theirs, &ours);
	assert_int_equal(theirs.grown.size, sizeof theirs.grown + MORE);
	assert_int_equal(theirs.grown.news, 8);
	for (int i = 0; i < MORE; i++) {
		assert_int_equal(theirs.newer[i], 0);
		assert_int_equal(theirs.behind[i], UNTOUCHED);
	}
}

CASE("a size that was never set is refused")
{
	static const uint32_t sizes[] = { 0, 4, sizeof(struct first) - 1, sizeof(struct grown) + 1,
		sizeof(struct grown) + 4, SIZED_BYTES_MAX + 8, UINT32_MAX };
	struct grown theirs = {};

	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		theirs.size = sizes[i];
		assert_int_equal(sized_check(&sized_grown, &theirs), -EINVAL);
		assert_string_equal(uncore_error_text(),
			"The struct uncore_grown has no known .size: initialise it with "
			"UNCORE_GROWN_INIT.");
	}
	assert_int_equal(sized_check(&sized_grown, NULL), -EINVAL);
}

/* --- structs of uncore.h, in a library that is older than the program --- */

CASE("the first release's sizes are the least")
{
	assert_int_equal(sized_sample.least_bytes, 56 + 16 * 48);
	assert_int_equal(sized_delta.least_bytes, 32 + 16 * 16);
	assert_int_equal(sized_machine.least_bytes, 32 + sizeof(void *));
	assert_int_equal(sized_socket.least_bytes, 24);
	assert_int_equal(sized_channel.least_bytes, 24 + 3 * sizeof(void *));
	assert_int_equal(sized_daemon.least_bytes, 64);
}

static int describe_machine(const struct uncore *handle, void *theirs)
{
	return uncore_describe(handle, theirs);
}

static int describe_socket(const struct uncore *handle, void *theirs)
{
	return uncore_describe_socket(handle, 1, theirs);
}

static int describe_channel(const struct uncore *handle, void *theirs)
{
	return uncore_describe_channel(handle, 1, theirs);
}

static int describe_daemon(const struct uncore *handle, void *theirs)
{
	return uncore_describe_daemon(handle, theirs);
}

static int read_sample(const struct uncore *handle, void *theirs)
{
	return uncore_read(handle, 1, UNCORE_CACHED, theirs);
}

static int read_channels(const struct uncore *handle, void *theirs)
{
	struct uncore_channel_value values[FAKE_CHANNELS];
	int n = uncore_read_channels(handle, 1, UNCORE_CACHED, theirs, values, FAKE_CHANNELS);

	return n < 0 ? n : 0;
}

static int read_delta(const struct uncore *handle, void *theirs)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;

	assert_int_equal(uncore_read(handle, 1, UNCORE_CACHED, &sample), 0);
	return uncore_delta(&sample, &sample, theirs);
}

static const struct call {
	const struct sized *kind;
	int (*call)(const struct uncore *handle, void *theirs);
} calls[] = {
	{ &sized_machine, describe_machine },
	{ &sized_socket, describe_socket },
	{ &sized_channel, describe_channel },
	{ &sized_daemon, describe_daemon },
	{ &sized_sample, read_sample },
	{ &sized_sample, read_channels },
	{ &sized_delta, read_delta },
};

union room {
	uint32_t size;
	uint64_t alignment;
	uint8_t bytes[SIZED_BYTES_MAX];
};

static void expect_fill(const struct uncore *handle, const struct call *call)
{
	union room same = {}, larger;
	uint32_t known = call->kind->bytes;

	same.size = known;
	assert_int_equal(call->call(handle, &same), 0);
	memset(&larger, UNTOUCHED, sizeof larger);
	memset(&larger, 0, known); /* a sample's values that no metric has stay as they are */
	larger.size = known + MORE;
	assert_int_equal(call->call(handle, &larger), 0);
	assert_int_equal(larger.size, known + MORE);
	assert_memory_equal(
		same.bytes + sizeof same.size, larger.bytes + sizeof same.size, known - 4);
	for (uint32_t i = 0; i < MORE; i++) {
		assert_int_equal(larger.bytes[known + i], 0);
		assert_int_equal(larger.bytes[known + MORE + i], UNTOUCHED);
	}
}

static void expect_refusal(const struct uncore *handle, const struct call *call)
{
	union room before, after;

	memset(&before, UNTOUCHED, sizeof before);
	before.size = call->kind->least_bytes - call->kind->alignment;
	after = before;
	assert_int_equal(call->call(handle, &after), -EINVAL);
	assert_memory_equal(&before, &after, sizeof before);
	assert_int_equal(call->call(handle, NULL), -EINVAL);
	assert_non_null(strstr(uncore_error_text(), call->kind->name));
	assert_non_null(strstr(uncore_error_text(), call->kind->init));
}

CASE("every struct may be larger, and none smaller than at first")
{
	struct fake_daemon daemon;
	struct uncore *handle;

	fake_daemon_start(&daemon, NULL, 1);
	assert_int_equal(uncore_open(daemon.path, &handle), 0);
	fake_daemon_sweep(&daemon, 1);
	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		expect_fill(handle, &calls[i]);
		expect_refusal(handle, &calls[i]);
	}
	uncore_close(handle);
	fake_daemon_stop(&daemon);
	fake_daemon_done(&daemon);
}

struct newer_sample {
	struct uncore_sample sample;
	uint64_t newer;
};

CASE("elements are as far apart as their .size says")
{
	struct newer_sample samples[FAKE_SOCKETS + 1];
	struct uncore_sample *first = &samples[0].sample;
	struct uncore_delta delta = UNCORE_DELTA_INIT;
	struct uncore_sample ordinary = UNCORE_SAMPLE_INIT;
	struct fake_daemon daemon;
	struct uncore *handle;

	memset(samples, UNTOUCHED, sizeof samples);
	for (uint32_t i = 0; i < FAKE_SOCKETS; i++)
		samples[i].sample.size = sizeof samples[i];
	fake_daemon_start(&daemon, NULL, 1);
	assert_int_equal(uncore_open(daemon.path, &handle), 0);
	for (uint32_t i = 0; i < FAKE_SOCKETS; i++)
		fake_daemon_sweep(&daemon, i);
	assert_int_equal(uncore_read_all(handle, UNCORE_CACHED, first, FAKE_SOCKETS), 0);
	for (uint32_t i = 0; i < FAKE_SOCKETS; i++) {
		assert_int_equal(samples[i].sample.size, sizeof samples[i]);
		assert_int_equal(samples[i].sample.socket, i);
		assert_int_equal(samples[i].sample.values[FAKE_READ].count, (i + 1) * FAKE_STEP);
		assert_int_equal(samples[i].newer, 0);
	}
	assert_int_equal(samples[FAKE_SOCKETS].sample.socket, 0x5a5a5a5a);
	assert_int_equal(uncore_read(handle, 1, UNCORE_CACHED, &ordinary), 0);
	assert_int_equal(uncore_delta(&ordinary, &samples[1].sample, &delta), 0);

	samples[1].sample.size = sizeof ordinary;
	samples[1].sample.socket = 99;
	assert_int_equal(uncore_read_all(handle, UNCORE_CACHED, first, FAKE_SOCKETS), -EINVAL);
	assert_non_null(strstr(uncore_error_text(), "the same .size"));
	assert_int_equal(samples[1].sample.socket, 99);
	uncore_close(handle);
	fake_daemon_stop(&daemon);
	fake_daemon_done(&daemon);
}
