/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/reload.h"

#include <inttypes.h>
#include <systemd/sd-daemon.h>

#include "common/clock.h"
#include "daemon/log.h"
#include "daemon/peer.h"

static void say_kept(const char *key)
{
	log_warning("%s has changed, which needs a restart: what it was stays until then.", key);
}

/* Whoever stays gets the new limits; who may not connect any more is disconnected. */
static void review_peers(struct server *server)
{
	unsigned n_gone = server->n_peers;

	for (struct peer *peer = server->peers, *next; peer; peer = next) {
		next = peer->next;
		peer_review(peer);
	}
	n_gone -= server->n_peers;
	if (n_gone)
		log_info("%u clients may not connect any more and were disconnected.", n_gone);
}

static void apply(struct server *server)
{
	struct fault fault;

	if (server_set_permissions(server, &fault) < 0)
		log_warning("%s", fault.text);
	server_limit_peers(server);
	hardware_apply(server->hardware, server->config);
	review_peers(server);
	server->reports[WIRE_STATE].made_ns = 0;
	log_info("The configuration was read again.");
}

void reload(struct server *server)
{
	struct fault fault;

	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, clock_now_ns() / 1000);
	if (config_reload(server->config, say_kept, &fault) < 0)
		log_error(
			"The configuration is as it was, for the new one is wrong: %s", fault.text);
	else
		apply(server);
	server_say_ready(server);
}
