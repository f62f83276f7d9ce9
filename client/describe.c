/* SPDX-License-Identifier: BSD-3-Clause */
/* What the machine has, from the tables of the page, which never change while it is mapped. */
#include <errno.h>
#include <string.h>

#include "client/internal.h"

_public_ int uncore_describe(const struct uncore *handle, struct uncore_machine *ret_machine)
{
	int r = handle_check(handle);

	if (r < 0)
		return r;
	if (!ret_machine || ret_machine->size != sizeof *ret_machine)
		return error_say(-EINVAL, "The struct uncore_machine has no known .size: "
					  "initialise it with UNCORE_MACHINE_INIT.");
	*ret_machine = (struct uncore_machine){
		.size = sizeof *ret_machine,
		.n_sockets = handle->page->n_sockets,
		.n_metrics = handle->page->n_metrics,
		.n_channels = handle->page->n_channels,
		.generation = { handle->page->generation[0], handle->page->generation[1] },
		.platform = handle->page->platform,
	};
	return 0;
}

static const struct page_metric *find_metric(const struct uncore *handle, uint32_t metric)
{
	if (handle_check(handle) < 0)
		return NULL;
	if (metric >= handle->page->n_metrics)
		return NULL;
	return &page_metrics(handle->page)[metric];
}

_public_ const char *uncore_metric_name(const struct uncore *handle, uint32_t metric)
{
	const struct page_metric *found = find_metric(handle, metric);

	return found ? found->name : NULL;
}

_public_ const char *uncore_metric_unit(const struct uncore *handle, uint32_t metric)
{
	const struct page_metric *found = find_metric(handle, metric);

	return found ? found->unit : NULL;
}

_public_ int uncore_find_metric(const struct uncore *handle, const char *name)
{
	int r = handle_check(handle);

	if (r < 0)
		return r;
	if (!name)
		return error_say(-EINVAL, "uncore_find_metric() was given no name.");
	for (uint32_t i = 0; i < handle->page->n_metrics; i++)
		if (strcmp(page_metrics(handle->page)[i].name, name) == 0)
			return (int)i;
	return error_say(-ENOENT, "Platform %s has no metric %s: `uncore info` lists those it has.",
		handle->page->platform, name);
}

_public_ int uncore_describe_socket(
	const struct uncore *handle, uint32_t socket, struct uncore_socket *ret_socket)
{
	const struct page_socket *found;
	int r = handle_check(handle);

	if (r < 0)
		return r;
	if (!ret_socket || ret_socket->size != sizeof *ret_socket)
		return error_say(-EINVAL, "The struct uncore_socket has no known .size: "
					  "initialise it with UNCORE_SOCKET_INIT.");
	if (socket >= handle->page->n_sockets)
		return error_say(-ENOENT, "There is no socket %u: this machine has %u.", socket,
			handle->page->n_sockets);
	found = &page_sockets(handle->page)[socket];
	*ret_socket = (struct uncore_socket){
		.size = sizeof *ret_socket,
		.package = found->package,
		.cpu = found->cpu,
		.first_channel = found->first_channel,
		.n_channels = found->n_channels,
	};
	return 0;
}

_public_ int uncore_describe_channel(
	const struct uncore *handle, uint32_t channel, struct uncore_channel *ret_channel)
{
	const struct page_channel *found;
	int r = handle_check(handle);

	if (r < 0)
		return r;
	if (!ret_channel || ret_channel->size != sizeof *ret_channel)
		return error_say(-EINVAL, "The struct uncore_channel has no known .size: "
					  "initialise it with UNCORE_CHANNEL_INIT.");
	if (channel >= handle->page->n_channels)
		return error_say(-ENOENT, "There is no channel %u: this machine has %u.", channel,
			handle->page->n_channels);
	found = &page_channels(handle->page)[channel];
	*ret_channel = (struct uncore_channel){
		.size = sizeof *ret_channel,
		.socket = found->socket,
		.metric = found->metric,
		.cpu = found->cpu,
		.bytes = found->bytes,
		.name = found->name,
		.pmu = found->pmu,
		.event = found->event,
	};
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
	const struct page_daemon *found;
	int r = handle_check(handle);

	if (r < 0)
		return r;
	if (!ret_daemon || ret_daemon->size != sizeof *ret_daemon)
		return error_say(-EINVAL, "The struct uncore_daemon has no known .size: "
					  "initialise it with UNCORE_DAEMON_INIT.");
	found = &handle->page->daemon;
	*ret_daemon = (struct uncore_daemon){
		.size = sizeof *ret_daemon,
		.n_clients = (uint32_t)__atomic_load_n(&found->n_clients, __ATOMIC_RELAXED),
		.started_ns = found->started_ns,
		.refused = __atomic_load_n(&found->refused, __ATOMIC_RELAXED),
		.min_interval_ns = __atomic_load_n(&found->min_interval_ns, __ATOMIC_RELAXED),
	};
	for (uint32_t i = 0; i < handle->page->n_sockets; i++)
		add_reader(page_cell(handle->page, i), ret_daemon);
	return 0;
}

_public_ const char *uncore_why(const struct uncore *handle, uint32_t why)
{
	if (handle_check(handle) < 0 || why >= handle->page->n_texts)
		return "for an unknown reason";
	return page_texts(handle->page)[why].text;
}

/* A value with a caveat that only a later release knows must not look like one without. */
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
