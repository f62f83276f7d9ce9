/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmda/sources.h"

#include <stdio.h>
#include <string.h>

/* --- the kernel's names --- */

/* A name must be one word: blanks separate words in the record. The kernel's names have none. */
static bool sources_is_word(const char *text)
{
	return *text && !text[strcspn(text, " \t\n")];
}

static bool set_words(struct source *source, const char *pmu, const char *event)
{
	if (!sources_is_word(pmu) || !sources_is_word(event) || strlen(pmu) >= sizeof source->pmu ||
		strlen(event) >= sizeof source->event)
		return false;
	strcpy(source->pmu, pmu);
	strcpy(source->event, event);
	return true;
}

/* Describes channel @i, and where @source is counted. */
static bool sources_begin_channel(
	const struct view *view, unsigned i, struct uncore_channel *ret_channel, struct source *ret)
{
	*ret_channel = (struct uncore_channel)UNCORE_CHANNEL_INIT;
	if (uncore_describe_channel(view->reader.handle, i, ret_channel) < 0)
		return false;
	*ret = (struct source){ .socket = ret_channel->socket, .cpu = ret_channel->cpu };
	return true;
}

static bool name_as_kernel(const struct view *view, unsigned i, struct source *ret)
{
	struct uncore_channel channel;

	if (!sources_begin_channel(view, i, &channel, ret) || !channel.bytes)
		return false;
	ret->bytes = channel.bytes;
	return set_words(ret, channel.pmu, channel.event);
}

/* --- libpfm4's names, which Caliper and SUPREMM have in their sources --- */

enum { TRANSFER_BYTES = 64 };

/* As the pfm: alternatives of the platform files; there is a test that compares them. */
static const struct libpfm_name {
	const char *platform, *metric, *pmu, *event; /* the box's number follows the PMU */
} libpfm_names[] = {
	{ "haswell-ep", "dram.read", "hswep_unc_imc", "::UNC_M_CAS_COUNT:RD" },
	{ "haswell-ep", "dram.write", "hswep_unc_imc", "::UNC_M_CAS_COUNT:WR" },
	{ "broadwell-ep", "dram.read", "bdx_unc_imc", "::UNC_M_CAS_COUNT:RD" },
	{ "broadwell-ep", "dram.write", "bdx_unc_imc", "::UNC_M_CAS_COUNT:WR" },
	{ "skylake-sp", "dram.read", "skx_unc_imc", "::UNC_M_CAS_COUNT:RD" },
	{ "skylake-sp", "dram.write", "skx_unc_imc", "::UNC_M_CAS_COUNT:WR" },
	{ "cascade-lake", "dram.read", "skx_unc_imc", "::UNC_M_CAS_COUNT:RD" },
	{ "cascade-lake", "dram.write", "skx_unc_imc", "::UNC_M_CAS_COUNT:WR" },
	{ "knl", "dram.read", "knl_unc_imc", "::UNC_M_CAS_COUNT:RD" },
	{ "knl", "dram.write", "knl_unc_imc", "::UNC_M_CAS_COUNT:WR" },
	{ "knl", "hbm.read", "knl_unc_edc_eclk", "::UNC_E_RPQ_INSERTS" },
	{ "knl", "hbm.write", "knl_unc_edc_eclk", "::UNC_E_WPQ_INSERTS" },
	{ "knl-cache", "dram.read", "knl_unc_imc", "::UNC_M_CAS_COUNT:RD" },
	{ "knl-cache", "dram.write", "knl_unc_imc", "::UNC_M_CAS_COUNT:WR" },
	{ "knl-hybrid", "dram.read", "knl_unc_imc", "::UNC_M_CAS_COUNT:RD" },
	{ "knl-hybrid", "dram.write", "knl_unc_imc", "::UNC_M_CAS_COUNT:WR" },
};

/* "3" of "uncore_imc_3"; "0" for a single box, which has no number. */
static const char *sources_number_of(const char *pmu)
{
	const char *end = pmu + strlen(pmu);

	while (end > pmu && end[-1] >= '0' && end[-1] <= '9')
		end--;
	return *end ? end : "0";
}

static const struct libpfm_name *find_libpfm_name(const char *platform, const char *metric)
{
	for (size_t i = 0; i < sizeof libpfm_names / sizeof *libpfm_names; i++)
		if (!strcmp(platform, libpfm_names[i].platform) &&
			!strcmp(metric, libpfm_names[i].metric))
			return &libpfm_names[i];
	return NULL;
}

static bool name_as_libpfm(const struct view *view, unsigned i, struct source *ret)
{
	struct uncore_channel channel;
	const struct libpfm_name *name;
	char pmu[UNCORE_NAME_MAX];

	if (!sources_begin_channel(view, i, &channel, ret))
		return false;
	name = find_libpfm_name(
		view->reader.platform, uncore_metric_name(view->reader.handle, channel.metric));
	if (!name)
		return false;
	ret->bytes = TRANSFER_BYTES;
	snprintf(pmu, sizeof pmu, "%s%s", name->pmu, sources_number_of(channel.pmu));
	return set_words(ret, pmu, name->event);
}

/* --- uncored's own names, the same on every machine --- */

static bool name_as_uncored(const struct view *view, unsigned i, struct source *ret)
{
	struct uncore_socket socket = UNCORE_SOCKET_INIT;
	unsigned metric = i % view->reader.machine.n_metrics;
	const char *name = uncore_metric_name(view->reader.handle, metric);
	char event[UNCORE_NAME_MAX], *dot;

	if (strcmp(uncore_metric_unit(view->reader.handle, metric), "bytes") ||
		uncore_describe_socket(
			view->reader.handle, i / view->reader.machine.n_metrics, &socket) < 0)
		return false;
	*ret = (struct source){
		.socket = i / view->reader.machine.n_metrics,
		.cpu = socket.cpu,
		.bytes = 1,
	};
	snprintf(event, sizeof event, "%s", name);
	while ((dot = strchr(event, '.')))
		*dot = '_';
	return set_words(ret, "uncored", event);
}

/* --- all kinds: channels as the kernel names them, as libpfm4 does, and sockets' metrics --- */

unsigned sources_count(const struct view *view)
{
	const struct uncore_machine *machine = &view->reader.machine;

	return 2 * machine->n_channels + machine->n_sockets * machine->n_metrics;
}

bool sources_describe(const struct view *view, unsigned number, struct source *ret)
{
	unsigned n_channels = view->reader.machine.n_channels;

	if (number < n_channels)
		return name_as_kernel(view, number, ret);
	if (number < 2 * n_channels)
		return name_as_libpfm(view, number - n_channels, ret);
	return name_as_uncored(view, number - 2 * n_channels, ret);
}

bool sources_bytes(const struct view *view, unsigned number, uint64_t *ret_bytes)
{
	const struct uncore_machine *machine = &view->reader.machine;
	const struct uncore_channel_value *channel;
	const struct uncore_value *value;

	if (number < 2 * machine->n_channels) {
		channel = &view->readout.channels[number % machine->n_channels];
		*ret_bytes = channel->count;
		return !(channel->quality & UNCORE_ABSENT);
	}
	number -= 2 * machine->n_channels;
	value = &view->readout.samples[number / machine->n_metrics]
			 .values[number % machine->n_metrics];
	*ret_bytes = value->count;
	return !(value->quality & UNCORE_ABSENT);
}
