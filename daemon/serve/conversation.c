/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/conversation.h"

#include <errno.h>
#include <sys/socket.h>

#include "common/clock.h"
#include "daemon/serve/deaths.h"
#include "daemon/serve/requests.h"

enum { UNPARK_NS = 500000, WAKE_ACCURACY_US = 250 };

int conversation_first_bytes(int fd)
{
	char first;
	ssize_t n = recv(fd, &first, sizeof first, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);

	return n < 0 ? -errno : (int)n;
}

/*
 * A request that cannot be granted gets an error message. If the peer breaks the protocol, does not
 * read its answers or has left, this returns negative errno, and the peer must be freed. Nothing
 * that a peer does stops the loop.
 */
static int answer_next(struct peer *peer)
{
	struct wire_packet packet;
	int r = peer_receive(peer, &packet);

	if (r == -EAGAIN || r == -EINTR)
		return 0;
	if (r == 1)
		return requests_answer(peer, &packet.message);
	if (peer->refusal && (r == -EOPNOTSUPP || r == -EBADMSG))
		return peer_turn_away(peer);
	if (r == -EOPNOTSUPP)
		return peer_refuse(peer, POLICY_REQUEST, "uncored knows no such request.");
	if (r == -EBADMSG)
		peer_refuse(peer, POLICY_MESSAGE, "This is not a message of uncored's protocol.");
	return r < 0 ? r : -ECONNRESET;
}

/* Serves the next message of a peer, or parks the peer. False: the peer was freed. */
static bool hear(struct peer *peer)
{
	struct server *server = peer->server;
	unsigned account = peer->account;
	uint64_t now_ns = clock_now_ns(), wait_ns = budget_ask(&server->budget, account, now_ns);
	int r;

	if (wait_ns && !peer->is_due) {
		peer_park(peer, now_ns, wait_ns);
		budget_charge_unasked(&server->budget, account, server_take_cost(server));
		return true;
	}
	peer->is_due = false;
	r = answer_next(peer);
	if (r < 0)
		peer_free(peer);
	budget_charge(&server->budget, account, server_take_cost(server));
	return r >= 0;
}

/* A client that has left needs no answer, so its peer does not stay parked. Otherwise clients that
 * keep coming and leaving would use up all connections of their user with parked ones. */
static void drop(struct peer *peer)
{
	struct server *server = peer->server;
	unsigned account = peer->account;

	peer->has_left = true;
	/* Without budget the user's tables wait for the look at all. */
	if (!budget_ask(&server->budget, account, clock_now_ns()))
		deaths_look(peer);
	peer_free(peer);
	budget_charge_unasked(&server->budget, account, server_take_cost(server));
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct peer *peer = userdata;

	(void)source;
	(void)fd;
	if (events & EPOLLHUP)
		drop(peer);
	else if (!peer->parked_ns && hear(peer) && !peer->parked_ns)
		peer_look_again(peer);
	return 0;
}

static int watch(struct peer *peer)
{
	int r = sd_event_add_io(peer->server->event, &peer->source, peer->fd,
		(uint32_t)(peer->parked_ns ? PEER_PARKED : PEER_READABLE), on_readable, peer);

	return r < 0 ? r : peer_limit_rate(peer);
}

/* The library sends HELLO right after it connects. It gets its answer right away, because another
 * turn of the loop would cost as much as the answer. */
int conversation_begin(struct peer *peer)
{
	int r;

	if (conversation_first_bytes(peer->fd) > 0 && !hear(peer))
		return 0;
	r = watch(peer);
	if (r < 0)
		peer_free(peer);
	return r;
}

/* --- parked peers --- */

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

static int on_wake(sd_event_source *source, uint64_t usec, void *userdata)
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

int conversation_start(struct server *server)
{
	int r = sd_event_add_time(server->event, &server->wake_source, CLOCK_MONOTONIC, UINT64_MAX,
		WAKE_ACCURACY_US, on_wake, server);

	return r < 0 ? r : sd_event_source_set_enabled(server->wake_source, SD_EVENT_OFF);
}
