/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes the machine from the handle's tables. CPUs are read live: they may go offline. */
#include <errno.h>
#include <string.h>

#include "client/libuncore/internal.h"
#include "client/libuncore/sized.h"

_public_ int uncore_describe(const struct uncore *handle, struct uncore_machine *ret_machine)
{
	struct uncore_machine ours;
	int r = handle_check(handle);

	if (r == 0)
		r = sized_check(&sized_machine, ret_machine);
	if (r < 0)
		return r;
	ours = (struct uncore_machine){
		.n_sockets = handle->tables->n_sockets,
		.n_metrics = handle->tables->n_metrics,
		.n_channels = handle->tables->n_channels,
		.generation = { handle->tables->generation[0], handle->tables->generation[1] },
		.platform = handle->tables->platform,
	};
	sized_fill(&sized_machine, ret_machine, &ours);
	return 0;
}

static const struct page_metric *describe_find_metric(const struct uncore *handle, uint32_t metric)
{
	if (handle_check(handle) < 0)
		return NULL;
	if (metric >= handle->tables->n_metrics)
		return NULL;
	return &page_metrics(handle->tables)[metric];
}

_public_ const char *uncore_metric_name(const struct uncore *handle, uint32_t metric)
{
	const struct page_metric *found = describe_find_metric(handle, metric);

	return found ? found->name : NULL;
}

_public_ const char *uncore_metric_unit(const struct uncore *handle, uint32_t metric)
{
	const struct page_metric *found = describe_find_metric(handle, metric);

	return found ? found->unit : NULL;
}

_public_ uint32_t uncore_metric_pmid(const struct uncore *handle, uint32_t metric)
{
	const struct page_metric *found = describe_find_metric(handle, metric);

	return found ? found->pmid : 0;
}

_public_ int uncore_find_metric(const struct uncore *handle, const char *name)
{
	int r = handle_check(handle);

	if (r < 0)
		return r;
	if (!name)
		return error_say(-EINVAL, "uncore_find_metric() was given no name.");
	for (uint32_t i = 0; i < handle->tables->n_metrics; i++)
		if (strcmp(page_metrics(handle->tables)[i].name, name) == 0)
			return (int)i;
	return error_say(-ENOENT, "Platform %s has no metric %s: `uncore info` lists those it has.",
		handle->tables->platform, name);
}

_public_ int uncore_describe_socket(
	const struct uncore *handle, uint32_t socket, struct uncore_socket *ret_socket)
{
	struct uncore_socket ours;
	const struct page_socket *found;
	int r = handle_check(handle);

	if (r == 0)
		r = sized_check(&sized_socket, ret_socket);
	if (r < 0)
		return r;
	if (socket >= handle->tables->n_sockets)
		return error_say(-ENOENT, "There is no socket %u: this machine has %u.", socket,
			handle->tables->n_sockets);
	found = &page_sockets(handle->tables)[socket];
	ours = (struct uncore_socket){
		.package = found->package,
		.cpu = (uint32_t)live_word(handle, found->cpu),
		.first_channel = found->first_channel,
		.n_channels = found->n_channels,
	};
	sized_fill(&sized_socket, ret_socket, &ours);
	return 0;
}

_public_ int uncore_describe_channel(
	const struct uncore *handle, uint32_t channel, struct uncore_channel *ret_channel)
{
	struct uncore_channel ours;
	const struct page_channel *found;
	int r = handle_check(handle);

	if (r == 0)
		r = sized_check(&sized_channel, ret_channel);
	if (r < 0)
		return r;
	if (channel >= handle->tables->n_channels)
		return error_say(-ENOENT, "There is no channel %u: this machine has %u.", channel,
			handle->tables->n_channels);
	found = &page_channels(handle->tables)[channel];
	ours = (struct uncore_channel){
		.socket = found->socket,
		.metric = found->metric,
		.cpu = live_word(handle, found->cpu),
		.bytes = found->bytes,
		.name = found->name,
		.pmu = found->pmu,
		.event = found->event,
	};
	sized_fill(&sized_channel, ret_channel, &ours);
	return 0;
}

static void add_reader(const struct page_cell *cell, struct uncore_daemon *daemon)
{
	daemon->sweeps += __atomic_load_n(&cell->sweep.number, __ATOMIC_RELAXED);
	daemon->throttled += __atomic_load_n(&cell->throttled, __ATOMIC_RELAXED);
	daemon->cpu_ns += __atomic_load_n(&cell->cpu_ns, __ATOMIC_RELAXED);
}

_public_ int uncore_describe_daemon(const struct uncore *handle, struct uncore_daemon *ret_daemon)
{
	struct uncore_daemon ours;
	const struct page_daemon *found;
	int r = handle_check(handle);

	if (r == 0)
		r = sized_check(&sized_daemon, ret_daemon);
	if (r < 0)
		return r;
	found = &handle->tables->daemon;
	ours = (struct uncore_daemon){
		.n_clients = (uint32_t)live_word(handle, found->n_clients),
		.started_ns = live_word(handle, found->started_ns),
		.refused = live_word(handle, found->refused),
		.min_interval_ns = live_word(handle, found->min_interval_ns),
		.quantum = page_wakeup_quantum(handle->wakeups),
	};
	for (uint32_t i = 0; i < handle->tables->n_sockets; i++)
		add_reader(handle_cell_of(handle, i), &ours);
	sized_fill(&sized_daemon, ret_daemon, &ours);
	return 0;
}

_public_ const char *uncore_why(const struct uncore *handle, uint32_t why)
{
	if (handle_check(handle) < 0 || why >= handle->tables->n_texts)
		return "for an unknown reason";
	return page_texts(handle->tables)[why].text;
}

/* A value must not look exact because this library does not know its flag. */
static uint32_t known_flags(void)
{
	uint32_t flags = 0;

	for (size_t i = 0; i < PAGE_QUALITY_WORDS; i++)
		flags |= page_quality_words[i].flag;
	return flags;
}

static char *add_word(char *text, char *end, const char *word)
{
	if (end != text)
		*end++ = ',';
	return stpcpy(end, word);
}

_public_ int uncore_quality_words(uint32_t quality, char *buffer, size_t size_bytes)
{
	char text[128] = ""; /* room for all words and commas */
	char *end = text;
	size_t length, kept;

	for (size_t i = 0; i < PAGE_QUALITY_WORDS; i++)
		if (quality & page_quality_words[i].flag)
			end = add_word(text, end, page_quality_words[i].word);
	if (quality & ~known_flags())
		end = add_word(text, end, "unknown");
	length = (size_t)(end - text);
	if (buffer && size_bytes) {
		kept = length < size_bytes ? length : size_bytes - 1;
		memcpy(buffer, text, kept);
		buffer[kept] = '\0';
	}
	return (int)length;
}
