/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/parking.h"

#include "common/clock.h"
#include "daemon/serve/peer.h"

enum { UNPARK_NS = 500000 };

/*
 * Finds for each account the longest parked peer among those whose own wait is over. Each peer must
 * wait by itself. If the end of one wait unparked all peers of the account, a user with a few
 * clients that keep coming would always have a parked one, and pay with a single wait for all.
 */
static void find_longest(struct server *server, uint64_t now_ns)
{
	for (struct peer *peer = server->peers; peer; peer = peer->next) {
		struct account *account = &server->accounts.accounts[peer->account];

		if (peer->parked_ns && peer_unpark_ns(peer) <= now_ns &&
			(!account->longest || peer->parked_ns < account->longest->parked_ns))
			account->longest = peer;
	}
}

/* Unparks one peer of an account at a time: all at once would cost much, and the account may have
 * budget for only one. */
static void unpark_longest(struct server *server, uint64_t now_ns)
{
	for (struct peer *peer = server->peers; peer; peer = peer->next) {
		struct account *account = &server->accounts.accounts[peer->account];

		if (account->longest != peer)
			continue;
		account->longest = NULL;
		account->unpark_ns = now_ns + UNPARK_NS;
		peer_unpark(peer);
	}
}

int parking_on_wake(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct server *server = userdata;
	uint64_t now_ns = clock_now_ns(), next_ns = UINT64_MAX;

	(void)source;
	(void)usec;
	find_longest(server, now_ns);
	unpark_longest(server, now_ns);
	for (const struct peer *peer = server->peers; peer; peer = peer->next)
		if (peer->parked_ns && peer_unpark_ns(peer) < next_ns)
			next_ns = peer_unpark_ns(peer);
	if (next_ns != UINT64_MAX)
		server_wake_at(server, next_ns);
	return 0;
}
