/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/frame/validated.h"
#include "common/cpus.h"
#include "common/macro.h"
#include "common/node.h"

enum { NODES_MAX = 256 };

void parts_done(struct parts *parts)
{
	free(take_ptr(parts->part));
	free(take_ptr(parts->channel));
	*parts = (struct parts){ .n = 0 };
}

static int parts_init(const struct uncore *handle, struct parts *ret)
{
	struct uncore_machine machine = UNCORE_MACHINE_INIT;

	uncore_describe(handle, &machine);
	*ret = (struct parts){
		.n_channels = machine.n_channels,
		.part = calloc(machine.n_channels + NODES_MAX, sizeof *ret->part),
		.channel = calloc(machine.n_channels + 1, sizeof *ret->channel),
	};
	if (!ret->part || !ret->channel)
		return -ENOMEM;
	for (uint32_t i = 0; i < ret->n_channels; i++) {
		struct uncore_channel channel = UNCORE_CHANNEL_INIT;

		uncore_describe_channel(handle, i, &channel);
		ret->channel[i] = (struct part_channel){ channel.socket, channel.metric, PART_NONE,
			channel.name };
	}
	return 0;
}

int parts_of_channels(const struct uncore *handle, struct parts *ret)
{
	int r = parts_init(handle, ret);

	for (uint32_t i = 0; r == 0 && i < ret->n_channels; i++) {
		struct part_channel *channel = &ret->channel[i];
		struct part *part = ret->part;

		while (part < ret->part + ret->n &&
			(part->socket != channel->socket || strcmp(part->name, channel->name) != 0))
			part++;
		channel->part = (uint32_t)(part - ret->part);
		if (channel->part == ret->n) {
			snprintf(part->name, sizeof part->name, "%s", channel->name);
			part->socket = channel->socket;
			ret->n++;
		}
		part->metrics |= UINT32_C(1) << channel->metric;
	}
	return r;
}

/* --- nodes --- */

uint32_t parts_socket(const struct uncore *handle, int package)
{
	struct uncore_socket socket = UNCORE_SOCKET_INIT;

	for (uint32_t i = 0; uncore_describe_socket(handle, i, &socket) == 0; i++)
		if ((int)socket.package == package)
			return i;
	return UINT32_MAX;
}

static void parts_add_node(const struct uncore *handle, unsigned node, struct parts *parts)
{
	const int cpu = node_first_cpu("", node);
	const int package = cpu < 0 ? -1 : cpus_package((unsigned)cpu);
	struct part part = { .node = node, .socket = parts_socket(handle, package) };

	snprintf(part.name, sizeof part.name, "node%u", node);
	if (package >= 0 && parts->n < NODES_MAX && part.socket != UINT32_MAX)
		parts->part[parts->n++] = part;
}

/* --- maps: lists of channels, "imc0 imc1 | imc2 imc3" --- */

/* The @n-th of @n_lists lists; "": there are not as many. */
static const char *nth_list(const char *lists, unsigned n, unsigned n_lists)
{
	unsigned n_found = 1;

	for (const char *at = lists; (at = strchr(at, '|')); at++)
		n_found++;
	while (n_found == n_lists && n-- > 0)
		lists = strchr(lists, '|') + 1;
	return n_found == n_lists ? lists : "";
}

static bool parts_has_word(const char *list, const char *word)
{
	size_t n = 0;

	while (*list && *list != '|') {
		list += n + strspn(list + n, " ");
		n = strcspn(list, " |");
		if (n == strlen(word) && strncmp(list, word, n) == 0)
			return true;
	}
	return false;
}

static const char *kept_list(const struct json_value *report, unsigned node, unsigned n_nodes)
{
	const struct json_value *nodes = json_list(report, "nodes");

	JSON_EACH (nodes, kept)
		if (json_number(kept, "node") == node &&
			json_number(kept, "nodes_of_package") == n_nodes)
			return json_text(kept, "own_channels", "");
	return "";
}

/* The channels of part @number; NULL: all of its socket. */
static const char *list_of(const struct parts *parts, uint32_t number,
	const struct json_value *info, const struct json_value *report)
{
	unsigned n = 0, position = 0;

	for (uint32_t i = 0; i < parts->n; i++)
		if (parts->part[i].socket == parts->part[number].socket) {
			position += i < number;
			n++;
		}
	if (n == 1)
		return NULL;
	return json_has(info, "nodes") ? nth_list(json_text(info, "nodes", ""), position, n)
				       : kept_list(report, parts->part[number].node, n);
}

/* --- all together --- */

/* The only part of the channel's socket with a list that has it. */
static uint32_t parts_owner_of(const struct parts *parts, const struct part_channel *channel,
	const char *const lists[NODES_MAX])
{
	uint32_t found = PART_NONE;

	for (uint32_t i = 0; i < parts->n; i++)
		if (parts->part[i].socket == channel->socket &&
			(!lists[i] || parts_has_word(lists[i], channel->name))) {
			if (found != PART_NONE)
				return PART_NONE;
			found = i;
		}
	return found;
}

/* A channel that is of no node makes its metric unknown for all nodes of its socket. */
static void set_metrics(struct parts *parts)
{
	for (uint32_t i = 0; i < parts->n_channels; i++)
		if (parts->channel[i].part != PART_NONE)
			parts->part[parts->channel[i].part].metrics |= UINT32_C(1)
								       << parts->channel[i].metric;
	for (uint32_t i = 0; i < parts->n_channels; i++)
		for (uint32_t k = 0; k < parts->n && parts->channel[i].part == PART_NONE; k++)
			if (parts->part[k].socket == parts->channel[i].socket)
				parts->part[k].metrics &=
					~(UINT32_C(1) << parts->channel[i].metric);
}

int parts_of_nodes_in(const struct uncore *handle, const struct json_value *info, struct parts *ret)
{
	char online[NODE_LIST_MAX];
	_cleanup_(validated_done) struct validated validated;
	const char *lists[NODES_MAX] = { NULL };
	int r = parts_init(handle, ret);

	validated_read(&validated, json_text(info, "platform", ""));
	if (r < 0)
		return r;
	node_list("", "online", online);
	for (unsigned node = 0; node < NODE_NUMBERS; node++)
		if (node_is_in(online, node))
			parts_add_node(handle, node, ret);
	for (uint32_t i = 0; i < ret->n; i++)
		lists[i] = list_of(ret, i, info, validated.report);
	for (uint32_t i = 0; i < ret->n_channels; i++)
		ret->channel[i].part = parts_owner_of(ret, &ret->channel[i], lists);
	set_metrics(ret);
	return 0;
}

int parts_of_nodes(const struct uncore *handle, const char *socket_path, struct parts *ret)
{
	_cleanup_(json_document_done) struct json_document document = { .text = NULL };
	char *text = NULL;

	uncore_info(socket_path, &text);
	return parts_of_nodes_in(handle, json_document_take(&document, text), ret);
}
