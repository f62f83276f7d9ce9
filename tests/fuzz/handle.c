/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/handle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/libuncore/internal.h"
#include "common/macro.h"
#include "common/page.h"

enum { WAIT_NS = 200000 };

static void use_name(const char *name, size_t most_bytes)
{
	if (!name || strnlen(name, most_bytes) == most_bytes)
		abort();
}

static void use_metrics(const struct uncore *handle, uint32_t n)
{
	if (n > UNCORE_METRICS_MAX || uncore_metric_name(handle, n) ||
		uncore_metric_unit(handle, n) || uncore_metric_pmid(handle, n))
		abort();
	for (uint32_t i = 0; i < n; i++) {
		const char *name = uncore_metric_name(handle, i);

		use_name(name, UNCORE_NAME_MAX);
		use_name(uncore_metric_unit(handle, i), UNCORE_NAME_MAX);
		uncore_metric_pmid(handle, i);
		/* two metrics may have one name: then it is the first */
		if (uncore_find_metric(handle, name) > (int)i ||
			uncore_find_metric(handle, name) < 0)
			abort();
	}
	uncore_find_metric(handle, "no such");
	uncore_quality_words(UINT32_MAX, NULL, 0);
}

static void use_channels(const struct uncore *handle, const struct uncore_machine *machine)
{
	struct uncore_channel channel = UNCORE_CHANNEL_INIT;

	if (uncore_describe_channel(handle, machine->n_channels, &channel) != -ENOENT)
		abort();
	for (uint32_t i = 0; i < machine->n_channels; i++) {
		if (uncore_describe_channel(handle, i, &channel) < 0 ||
			channel.socket >= machine->n_sockets ||
			channel.metric >= machine->n_metrics)
			abort();
		use_name(channel.name, UNCORE_NAME_MAX);
		use_name(channel.pmu, UNCORE_NAME_MAX);
		use_name(channel.event, UNCORE_NAME_MAX);
	}
}

/* --- misuse --- */

static void must_refuse(int r)
{
	if (r >= 0 || !uncore_error_text()[0])
		abort();
}

static void misuse_descriptions(const struct uncore *handle)
{
	struct uncore_machine machine = {};
	struct uncore_socket socket = {};
	struct uncore_channel channel = {};
	struct uncore_daemon daemon = {};

	must_refuse(uncore_describe(handle, NULL));
	must_refuse(uncore_describe(handle, &machine));
	must_refuse(uncore_describe_socket(handle, 0, NULL));
	must_refuse(uncore_describe_socket(handle, 0, &socket));
	must_refuse(uncore_describe_channel(handle, 0, NULL));
	must_refuse(uncore_describe_channel(handle, 0, &channel));
	must_refuse(uncore_describe_daemon(handle, NULL));
	must_refuse(uncore_describe_daemon(handle, &daemon));
	must_refuse(uncore_find_metric(handle, NULL));
}

static void misuse_reads(const struct uncore *handle)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT, unknown = {};
	struct uncore_sample unknowns[PAGE_SOCKETS_MAX] = {};
	struct uncore_machine machine = UNCORE_MACHINE_INIT;

	must_refuse(uncore_read(handle, 0, -1, &sample));
	must_refuse(uncore_read(handle, 0, UNCORE_CACHED, NULL));
	must_refuse(uncore_read(handle, 0, UNCORE_CACHED, &unknown));
	must_refuse(uncore_read_all(handle, -1, unknowns, PAGE_SOCKETS_MAX));
	must_refuse(uncore_read_all(handle, UNCORE_CACHED, NULL, PAGE_SOCKETS_MAX));
	must_refuse(uncore_read_channels(handle, 0, -1, &sample, NULL, 0));
	if (uncore_describe(handle, &machine) == 0 && !machine.n_sockets)
		return; /* without sockets there is enough room for all */
	must_refuse(uncore_read_all(handle, UNCORE_CACHED, unknowns, 0));
	must_refuse(uncore_read_all(handle, UNCORE_CACHED, unknowns, PAGE_SOCKETS_MAX));
}

/* Misuses a handle that is a forked child's, or was never opened by this process. */
static void misuse_handle(struct uncore *handle)
{
	struct uncore_machine machine = UNCORE_MACHINE_INIT;
	struct uncore_socket socket = UNCORE_SOCKET_INIT;
	struct uncore_channel channel = UNCORE_CHANNEL_INIT;
	struct uncore_daemon daemon = UNCORE_DAEMON_INIT;

	must_refuse(uncore_describe(handle, &machine));
	must_refuse(uncore_describe_socket(handle, 0, &socket));
	must_refuse(uncore_describe_channel(handle, 0, &channel));
	must_refuse(uncore_describe_daemon(handle, &daemon));
	must_refuse(uncore_find_metric(handle, "dram.read"));
	must_refuse(uncore_set_timeout(handle, 1));
	misuse_reads(handle);
	use_name(uncore_why(handle, 0), UNCORE_TEXT_MAX);
	if (uncore_metric_name(handle, 0))
		abort();
}

static void misuse(struct uncore *handle)
{
	struct uncore_mark *mark = handle->mark;
	uint32_t ours = mark->ours;

	misuse_descriptions(handle);
	misuse_reads(handle);
	must_refuse(uncore_set_timeout(handle, 0));
	misuse_handle(NULL);
	mark->ours = 0;
	misuse_handle(handle);
	mark->ours = ours;
}

/* --- use --- */

static void must_subtract(const struct uncore_sample *from, const struct uncore_sample *to)
{
	struct uncore_delta delta = UNCORE_DELTA_INIT;

	if (uncore_delta(from, to, &delta) < 0)
		abort();
	for (uint32_t i = 0; i < delta.n_values; i++)
		if (delta.values[i].quality & UNCORE_ABSENT && delta.values[i].count)
			abort();
}

static void use_deltas(const struct uncore_sample *sample)
{
	struct uncore_sample other = *sample;
	struct uncore_delta delta = UNCORE_DELTA_INIT, unknown = {};

	must_refuse(uncore_delta(NULL, sample, &delta));
	must_refuse(uncore_delta(sample, NULL, &delta));
	must_refuse(uncore_delta(sample, sample, NULL));
	must_refuse(uncore_delta(sample, sample, &unknown));
	other.socket++;
	must_refuse(uncore_delta(sample, &other, &delta));
	other.socket--;
	other.generation[1]++;
	must_refuse(uncore_delta(sample, &other, &delta));
	other.generation[1]--;
	if (++other.sweep == 0)
		return;
	must_refuse(uncore_delta(&other, sample, &delta));
	other.values[0].count++;
	other.values[0].raised[0] = other.sweep;
	other.values[1].count--;
	must_subtract(sample, &other);
	other.values[0].quality = sample->values[0].quality ^ UNCORE_ABSENT;
	must_subtract(sample, &other);
	other.n_values = UNCORE_METRICS_MAX + 1;
	must_refuse(uncore_delta(sample, &other, &delta));
	other = (struct uncore_sample)UNCORE_SAMPLE_INIT;
	other.socket = sample->socket;
	must_refuse(uncore_delta(&other, sample, &delta));
}

static void use_sample(const struct uncore *handle, const struct uncore_sample *sample)
{
	struct uncore_delta delta = UNCORE_DELTA_INIT;
	char words[16];

	for (uint32_t i = 0; i < sample->n_values; i++) {
		use_name(uncore_why(handle, sample->values[i].why), UNCORE_TEXT_MAX);
		uncore_quality_words(sample->values[i].quality, words, sizeof words);
		use_name(words, sizeof words);
	}
	if (uncore_delta(sample, sample, &delta) < 0)
		return;
	use_deltas(sample);
	for (uint32_t i = 0; i < delta.n_values; i++)
		if (delta.values[i].count)
			abort();
}

static void read_channels(
	const struct uncore *handle, uint32_t socket, uint32_t n, struct uncore_sample *sample)
{
	_cleanup_free_ struct uncore_channel_value *values = calloc(n + 1, sizeof *values);

	if (!values)
		abort();
	if (uncore_read_channels(handle, socket, UNCORE_CACHED, sample, values, n) > (int)n)
		abort();
	if (n && uncore_read_channels(handle, socket, UNCORE_CACHED, sample, values, n - 1) >= 0)
		abort();
}

/* False: a writer seems to be at work on the cell, for which each further read would wait. */
static bool use_socket(const struct uncore *handle, uint32_t i)
{
	struct uncore_socket socket = UNCORE_SOCKET_INIT;
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	int r;

	if (uncore_describe_socket(handle, i, &socket) < 0)
		abort();
	r = uncore_read(handle, i, UNCORE_CACHED, &sample);
	if (r < 0)
		return r != -EAGAIN;
	use_sample(handle, &sample);
	read_channels(handle, i, socket.n_channels, &sample);
	return true;
}

static void use_all(const struct uncore *handle, int how)
{
	struct uncore_sample samples[PAGE_SOCKETS_MAX];

	for (int i = 0; i < PAGE_SOCKETS_MAX; i++)
		samples[i] = (struct uncore_sample)UNCORE_SAMPLE_INIT;
	if (uncore_read_all(handle, how, samples, PAGE_SOCKETS_MAX) == 0)
		use_sample(handle, &samples[0]);
}

void handle_use(struct uncore *handle, int fresh)
{
	struct uncore_machine machine = UNCORE_MACHINE_INIT;
	struct uncore_socket socket = UNCORE_SOCKET_INIT;
	struct uncore_daemon daemon = UNCORE_DAEMON_INIT;
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	bool readable = true;

	if (uncore_describe(handle, &machine) < 0 || uncore_describe_daemon(handle, &daemon) < 0)
		abort();
	use_name(machine.platform, UNCORE_NAME_MAX);
	use_metrics(handle, machine.n_metrics);
	use_channels(handle, &machine);
	if (uncore_describe_socket(handle, machine.n_sockets, &socket) != -ENOENT ||
		uncore_read(handle, machine.n_sockets, UNCORE_CACHED, &sample) >= 0)
		abort();
	for (uint32_t i = 0; i < machine.n_sockets && readable; i++)
		readable = use_socket(handle, i);
	if (readable)
		use_all(handle, UNCORE_CACHED);
	if (readable && fresh && uncore_set_timeout(handle, WAIT_NS) == 0)
		use_all(handle, UNCORE_FRESH);
	misuse(handle);
}
