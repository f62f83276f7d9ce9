/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmda/instances.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/tiers.h"

pmdaIndom instances_indoms[N_INDOMS] = {
	{ SOCKETS_INDOM, 0, NULL },
	{ CHANNELS_INDOM, 0, NULL },
	{ CPUS_INDOM, 0, NULL },
	{ JOBS_INDOM, 0, NULL },
};

#define NAME(tier) tier

/* Instance numbers depend on the order. */
static const char *const tiers[] = { TIERS(NAME) };
static const char *const directions[N_DIRECTIONS] = { "read", "write" };
enum {
	N_TIERS = sizeof tiers / sizeof tiers[0],
	TIER_SHIFT = 12,
	SOCKET_SHIFT = 16,
	NUMBER_MASK = (1 << TIER_SHIFT) - 1
};

struct socket {
	char name[24];
	unsigned package;
};

/* The data of the instances of one connection. */
struct numbered_machine {
	unsigned n_sockets, n_channels;
	unsigned n_read; /* sockets with counters: a socket has none if its package is missing */
	struct socket *sockets;
	struct channel *channels;
	pmdaInstid *socket_set, *channel_set;
};

static struct numbered_machine current;

static void machine_done(struct numbered_machine *machine)
{
	free(machine->sockets);
	free(machine->channels);
	free(machine->socket_set);
	free(machine->channel_set);
}

static int machine_init(
	struct numbered_machine *machine, unsigned n_sockets, unsigned most_channels)
{
	machine->sockets = calloc(n_sockets + 1, sizeof *machine->sockets);
	machine->channels = calloc(most_channels + 1, sizeof *machine->channels);
	machine->socket_set = calloc(n_sockets + 1, sizeof *machine->socket_set);
	machine->channel_set = calloc(most_channels + 1, sizeof *machine->channel_set);
	return machine->sockets && machine->channels && machine->socket_set && machine->channel_set
		       ? 0
		       : -ENOMEM;
}

/* --- sockets --- */

static void add_socket(struct numbered_machine *machine, const struct view *view)
{
	struct uncore_socket socket = UNCORE_SOCKET_INIT;
	unsigned number = machine->n_sockets++;
	struct socket *s = &machine->sockets[number];

	if (uncore_describe_socket(view->reader.handle, number, &socket) < 0)
		return;
	s->package = socket.package;
	if (socket.cpu == UINT32_MAX)
		return;
	snprintf(s->name, sizeof s->name, "socket%u", number);
	machine->socket_set[machine->n_read++] = (pmdaInstid){ (int)number, s->name };
}

/* --- channels --- */

/* Splits "dram.read"; false: channels do not have this metric. */
static bool split_metric(const char *metric, unsigned *ret_tier, enum direction *ret_direction)
{
	for (unsigned t = 0; t < N_TIERS; t++)
		for (unsigned d = 0; d < N_DIRECTIONS; d++) {
			char name[UNCORE_NAME_MAX];

			snprintf(name, sizeof name, "%s.%s", tiers[t], directions[d]);
			if (metric && strcmp(metric, name) == 0) {
				*ret_tier = t;
				*ret_direction = d;
				return true;
			}
		}
	return false;
}

static struct channel *find_label(
	struct numbered_machine *machine, unsigned socket, const char *tier, const char *label)
{
	for (unsigned i = 0; i < machine->n_channels; i++) {
		struct channel *channel = &machine->channels[i];

		if (channel->socket == socket && (!tier || channel->tier == tier) &&
			strcmp(channel->label, label) == 0)
			return channel;
	}
	return NULL;
}

static bool id_is_taken(const struct numbered_machine *machine, int id)
{
	for (unsigned i = 0; i < machine->n_channels; i++)
		if (machine->channels[i].id == id)
			return true;
	return false;
}

/* The first number in "imc3" or "imc3-die1"; if it is taken, the next free number. */
static int make_id(
	const struct numbered_machine *machine, unsigned socket, unsigned tier, const char *label)
{
	int id = (int)(socket << SOCKET_SHIFT | tier << TIER_SHIFT);

	id += (int)(strtoul(label + strcspn(label, "0123456789"), NULL, 10) & NUMBER_MASK);
	while (id_is_taken(machine, id))
		id++;
	return id;
}

/* "socket0/imc3"; "socket0/imc3.pmm" for another tier of the same controller. */
static void name_channel(struct numbered_machine *machine, struct channel *channel, unsigned tier)
{
	bool shared = find_label(machine, channel->socket, NULL, channel->label) != NULL;

	channel->id = make_id(machine, channel->socket, tier, channel->label);
	snprintf(channel->name, sizeof channel->name, "socket%u/%s%s%s", channel->socket,
		channel->label, shared ? "." : "", shared ? channel->tier : "");
}

static struct channel *take_channel(
	struct numbered_machine *machine, const struct uncore_channel *found, unsigned tier)
{
	struct channel *channel = find_label(machine, found->socket, tiers[tier], found->name);

	if (channel)
		return channel;
	channel = &machine->channels[machine->n_channels];
	channel->socket = found->socket;
	channel->tier = tiers[tier];
	channel->counts[DIRECTION_READ] = channel->counts[DIRECTION_WRITE] = -1;
	snprintf(channel->label, sizeof channel->label, "%s", found->name);
	name_channel(machine, channel, tier);
	machine->channel_set[machine->n_channels] = (pmdaInstid){ channel->id, channel->name };
	machine->n_channels++;
	return channel;
}

static void add_channel(struct numbered_machine *machine, const struct view *view, uint32_t index)
{
	struct uncore_channel found = UNCORE_CHANNEL_INIT;
	enum direction direction;
	unsigned tier;

	if (uncore_describe_channel(view->reader.handle, index, &found) < 0 ||
		!split_metric(
			uncore_metric_name(view->reader.handle, found.metric), &tier, &direction))
		return;
	take_channel(machine, &found, tier)->counts[direction] = (int)index;
}

/* --- sockets and channels --- */

int instances_make(const struct view *view)
{
	struct numbered_machine machine = { 0 };

	if (machine_init(&machine, view->reader.machine.n_sockets,
		    view->reader.machine.n_channels) < 0) {
		machine_done(&machine);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < view->reader.machine.n_sockets; i++)
		add_socket(&machine, view);
	for (uint32_t i = 0; i < view->reader.machine.n_channels; i++)
		add_channel(&machine, view, i);
	machine_done(&current);
	current = machine;
	instances_indoms[SOCKETS_INDOM].it_numinst = (int)current.n_read;
	instances_indoms[SOCKETS_INDOM].it_set = current.socket_set;
	instances_indoms[CHANNELS_INDOM].it_numinst = (int)current.n_channels;
	instances_indoms[CHANNELS_INDOM].it_set = current.channel_set;
	return 0;
}

const struct channel *instances_channel(unsigned id)
{
	for (unsigned i = 0; i < current.n_channels; i++)
		if (current.channels[i].id == (int)id)
			return &current.channels[i];
	return NULL;
}

unsigned instances_package(unsigned socket)
{
	return socket < current.n_sockets ? current.sockets[socket].package : 0;
}
