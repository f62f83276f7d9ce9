/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/peer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "common/clock.h"
#include "common/macro.h"
#include "daemon/admit/credentials.h"
#include "daemon/base/log.h"
#include "daemon/close/socket-closer.h"
#include "daemon/teams/team-room.h"

/* No message from or to an honest client costs this much CPU time. It takes microseconds, or a few
 * ms on an emulated machine or if the host takes the CPU away meanwhile. */
static const uint64_t DEAR_NS = 50000000;

enum { DEAR_MAX = 1 };

static const uint64_t HOUR_NS = 3600000000000U;

/*
 * The longest wait of one parked connection. The account's others follow one by one
 * (conversation.c): even with 512 of them, a client of the library is answered within its time
 * limit of one second.
 */
static const uint64_t PARKED_MAX_NS = 200000000;

/* Leaves room for only a few answers: a client that does not read them is dropped before the
 * descriptors in them pile up. */
static int limit_answers(int fd)
{
	const int bytes = 8192;

	return setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes) < 0 ? -errno : 0;
}

static void link_peer(struct peer *peer)
{
	struct server *server = peer->server;

	peer->next = server->peers;
	if (peer->next)
		peer->next->previous = peer;
	server->peers = peer;
	accounts_enter(&server->accounts, peer->account);
	server_count_peer(server, 1);
}

static void unlink_peer(struct peer *peer)
{
	struct server *server = peer->server;
	uint64_t now_ns = clock_now_ns();

	if (peer->next)
		peer->next->previous = peer->previous;
	if (peer->previous)
		peer->previous->next = peer->next;
	else
		server->peers = peer->next;
	accounts_leave(&server->accounts, peer->account, now_ns);
	team_room_enforce_uid(server->teams, peer->uid, now_ns);
	server_count_peer(server, -1);
}

int peer_new(struct server *server, int *fd, uid_t uid, unsigned account, struct peer **ret)
{
	struct peer *peer;
	int r = limit_answers(*fd);

	if (r < 0)
		return r;
	peer = calloc(1, sizeof *peer);
	if (!peer)
		return -ENOMEM;
	peer->server = server;
	peer->uid = uid;
	peer->account = account;
	peer->since_ns = clock_now_ns();
	peer->fd = take_fd(fd);
	peer->is_bare = socket_is_bare(peer->fd);
	link_peer(peer);
	*ret = peer;
	return 0;
}

struct peer *peer_free(struct peer *peer)
{
	if (!peer)
		return NULL;
	if (peer->user)
		users_leave(&peer->server->users, peer->user);
	sd_event_source_disable_unref(peer->source);
	if (peer->user && peer->has_left)
		closers_close_served(peer->server->closers, peer->account, &peer->fd);
	else
		closers_close_connection(peer->server->closers, peer->account, &peer->fd);
	unlink_peer(peer);
	server_resume_accepting(peer->server);
	free(peer->refusal);
	free(peer);
	return NULL;
}

void peer_set_account(struct peer *peer, unsigned account)
{
	struct accounts *accounts = &peer->server->accounts;

	if (peer->parked_ns)
		peer_unpark(peer);
	accounts_leave(accounts, peer->account, clock_now_ns());
	accounts_enter(accounts, account);
	peer->account = account;
}

/* --- parking --- */

/* The event loop does not report the peer until peer_look_again(), unless the client leaves. */
void peer_park(struct peer *peer, uint64_t now_ns, uint64_t wait_ns)
{
	peer->parked_ns = now_ns;
	peer->due_ns = now_ns + (wait_ns < PARKED_MAX_NS ? wait_ns : PARKED_MAX_NS);
	if (peer->source)
		sd_event_source_set_io_events(peer->source, (uint32_t)PEER_PARKED);
	server_wake_at(peer->server, peer_unpark_ns(peer));
}

uint64_t peer_unpark_ns(const struct peer *peer)
{
	uint64_t account_ns = peer->server->accounts.accounts[peer->account].unpark_ns;

	return peer->due_ns > account_ns ? peer->due_ns : account_ns;
}

void peer_look_again(struct peer *peer)
{
	sd_event_source_set_io_events(peer->source, PEER_READABLE);
}

void peer_unpark(struct peer *peer)
{
	peer->parked_ns = 0;
	peer->is_due = true;
	peer_look_again(peer);
}

/* --- messages --- */

/* Receiving from a client, answering it and closing its connection wake every watcher of its end.
 * If a client has too many watchers, it is dropped, and the closers do the waking. */
static int check_price(struct peer *peer, uint64_t before_ns)
{
	peer->n_dear += clock_thread_ns() - before_ns > DEAR_NS;
	return peer->n_dear > DEAR_MAX ? -ECONNABORTED : 0;
}

int peer_send(struct peer *peer, const union wire_message *message, const int fds[], unsigned n_fds)
{
	uint64_t before_ns = clock_thread_ns();
	int r = wire_send(peer->fd, message, fds, n_fds);

	return r < 0 ? r : check_price(peer, before_ns);
}

int peer_done(struct peer *peer)
{
	union wire_message reply;

	wire_begin(&reply, WIRE_DONE);
	return peer_send(peer, &reply, NULL, 0);
}

/* No request carries descriptors. A message with descriptors is not received: see
 * socket-closer.h. */
int peer_receive(struct peer *peer, struct wire_packet *ret)
{
	uint64_t before_ns = clock_thread_ns();
	int r = peer->is_bare ? 0 : socket_has_descriptors(peer->fd), price;

	if (r < 0)
		return r;
	r = r ? -EBADMSG : wire_receive(peer->fd, WIRE_FROM_CLIENT, ret);
	price = check_price(peer, before_ns);
	return r >= 0 && price < 0 ? price : r;
}

int peer_refuse(struct peer *peer, enum policy_rule rule, const char *text)
{
	struct policy_refusal refusal;

	policy_refuse(&refusal, rule, "%s", text);
	return server_refuse(peer->server, peer->fd, peer->uid, &refusal);
}

int peer_restrict(struct peer *peer, const struct policy_refusal *refusal)
{
	struct policy_refusal *copy = NULL;

	if (refusal) {
		copy = malloc(sizeof *copy);
		if (!copy)
			return -ENOMEM;
		*copy = *refusal;
	}
	free(peer->refusal);
	peer->refusal = copy;
	return 0;
}

int peer_turn_away(struct peer *peer)
{
	int r = server_refuse(peer->server, peer->fd, peer->uid, peer->refusal);

	return r < 0 ? r : peer->refusal->error;
}

void peer_tell_newcomer(const struct peer *peer)
{
	struct log_limits *limits = &peer->server->newcomers;
	uint64_t n_silent;

	if (log_limits_permit(limits, HOUR_NS, peer->uid, clock_now_ns(), &n_silent))
		log_info(
			"User %u has its first client, process %d (%" PRIu64
			" more times since the last such line). `uncore info --clients` shows all.",
			peer->uid, (int)credentials_pid(peer->fd), n_silent);
}

int peer_limit_rate(struct peer *peer)
{
	return sd_event_source_set_ratelimit(
		peer->source, 1000000, peer->server->config->requests_per_second);
}
