/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/handle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
		uncore_metric_unit(handle, n))
		abort();
	for (uint32_t i = 0; i < n; i++) {
		const char *name = uncore_metric_name(handle, i);

		use_name(name, UNCORE_NAME_MAX);
		use_name(uncore_metric_unit(handle, i), UNCORE_NAME_MAX);
		/* two metrics may have one name: then it is the first */
		if (uncore_find_metric(handle, name) > (int)i ||
			uncore_find_metric(handle, name) < 0)
			abort();
	}
	uncore_find_metric(handle, "no such");
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

/* False: its writer is in the way, which each further read would wait for. */
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
}
