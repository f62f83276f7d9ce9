/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmda/instances.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/jobstore/packages.h"
#include "common/tiers.h"

#define NAME(tier) tier

/* Instance numbers depend on the order. */
static const char *const tiers[] = { TIERS(NAME) };
static const char *const directions[N_DIRECTIONS] = { "read", "write" };
enum {
	N_TIERS = sizeof tiers / sizeof tiers[0],
	TIER_SHIFT = 12,
	SOCKET_SHIFT = 16,
	CHANNELS_MAX = 4096, /* as uncored has at most */
	NUMBER_MASK = (1 << TIER_SHIFT) - 1
};

struct socket {
	char name[24];
	unsigned package;
};

/* The instances of the last connection. Most of this is never touched, so it takes little memory.
 */
static struct socket sockets[PACKAGES_MAX];
static struct channel channels[CHANNELS_MAX];
static pmdaInstid socket_set[PACKAGES_MAX], channel_set[CHANNELS_MAX];
static unsigned n_sockets, n_channels;

pmdaIndom instances_indoms[N_INDOMS] = {
	{ SOCKETS_INDOM, 0, socket_set },
	{ CHANNELS_INDOM, 0, channel_set },
	{ CPUS_INDOM, 0, NULL },
	{ JOBS_INDOM, 0, NULL },
};

/* --- sockets --- */

/* A socket without counters is not an instance: its package is missing. */
static void instances_add_socket(const struct view *view, uint32_t number)
{
	struct uncore_socket socket = UNCORE_SOCKET_INIT;
	struct socket *s = &sockets[number];

	if (uncore_describe_socket(view->reader.handle, number, &socket) < 0)
		return;
	s->package = socket.package;
	if (socket.cpu == UINT32_MAX)
		return;
	snprintf(s->name, sizeof s->name, "socket%u", number);
	socket_set[instances_indoms[SOCKETS_INDOM].it_numinst++] =
		(pmdaInstid){ (int)number, s->name };
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

static struct channel *find_label(unsigned socket, const char *tier, const char *label)
{
	for (unsigned i = 0; i < n_channels; i++) {
		struct channel *channel = &channels[i];

		if (channel->socket == socket && (!tier || channel->tier == tier) &&
			strcmp(channel->label, label) == 0)
			return channel;
	}
	return NULL;
}

const struct channel *instances_channel(unsigned id)
{
	for (unsigned i = 0; i < n_channels; i++)
		if (channels[i].id == (int)id)
			return &channels[i];
	return NULL;
}

/* The first number in "imc3" or "imc3-die1"; if it is taken, the next free number. */
static unsigned make_id(unsigned socket, unsigned tier, const char *label)
{
	unsigned id = socket << SOCKET_SHIFT | tier << TIER_SHIFT;

	id += (unsigned)strtoul(label + strcspn(label, "0123456789"), NULL, 10) & NUMBER_MASK;
	while (instances_channel(id))
		id++;
	return id;
}

/* "socket0/imc3"; "socket0/imc3.pmm" for another tier of the same controller. */
static void instances_name_channel(
	const struct uncore_channel *found, unsigned tier, struct channel *channel)
{
	bool shared = find_label(found->socket, NULL, found->name) != NULL;

	channel->id = (int)make_id(found->socket, tier, found->name);
	snprintf(channel->name, sizeof channel->name, "socket%u/%s%s%s", found->socket, found->name,
		shared ? "." : "", shared ? channel->tier : "");
}

static struct channel *take_channel(const struct uncore_channel *found, unsigned tier)
{
	struct channel *channel = find_label(found->socket, tiers[tier], found->name);

	if (channel)
		return channel;
	channel = &channels[n_channels];
	channel->socket = found->socket;
	channel->tier = tiers[tier];
	channel->counts[DIRECTION_READ] = channel->counts[DIRECTION_WRITE] = -1;
	snprintf(channel->label, sizeof channel->label, "%s", found->name);
	instances_name_channel(found, tier, channel);
	channel_set[n_channels++] = (pmdaInstid){ channel->id, channel->name };
	return channel;
}

static void instances_add_channel(const struct view *view, uint32_t index)
{
	struct uncore_channel found = UNCORE_CHANNEL_INIT;
	enum direction direction;
	unsigned tier;

	if (n_channels < CHANNELS_MAX &&
		uncore_describe_channel(view->reader.handle, index, &found) == 0 &&
		split_metric(
			uncore_metric_name(view->reader.handle, found.metric), &tier, &direction))
		take_channel(&found, tier)->counts[direction] = (int)index;
}

/* --- sockets and channels --- */

void instances_make(const struct view *view)
{
	const struct uncore_machine *machine = &view->reader.machine;

	n_sockets = machine->n_sockets < PACKAGES_MAX ? machine->n_sockets : PACKAGES_MAX;
	n_channels = 0;
	memset(sockets, 0, sizeof sockets);
	instances_indoms[SOCKETS_INDOM].it_numinst = 0;
	for (uint32_t i = 0; i < n_sockets; i++)
		instances_add_socket(view, i);
	for (uint32_t i = 0; i < machine->n_channels; i++)
		instances_add_channel(view, i);
	instances_indoms[CHANNELS_INDOM].it_numinst = (int)n_channels;
}

unsigned instances_package(unsigned socket)
{
	return socket < n_sockets ? sockets[socket].package : 0;
}
