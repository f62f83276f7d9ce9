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

static const uint64_t HOUR_NS = 3600000000000U;

/* Leaves room for only a few answers: a client that does not read them is dropped before the
 * descriptors in them pile up. */
static int limit_answers(int fd)
{
	const int bytes = 8192;

	return setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes) < 0 ? -errno : 0;
}

/* --- parking --- */

struct account *peer_account(const struct peer *peer)
{
	return &peer->server->accounts.accounts[peer->account];
}

/* The event loop does not report the peer until peer_look_again(), unless the client leaves. */
void peer_park(struct peer *peer, uint64_t now_ns)
{
	struct account *account = peer_account(peer);

	peer->parked_ns = now_ns;
	peer->parked_before = account->last_parked;
	*(peer->parked_before ? &peer->parked_before->parked_after : &account->first_parked) = peer;
	account->last_parked = peer;
	if (peer->source)
		sd_event_source_set_io_events(peer->source, (uint32_t)PEER_PARKED);
}

void peer_unpark(struct peer *peer)
{
	struct account *account = peer_account(peer);
	struct peer *before = peer->parked_before, *after = peer->parked_after;

	*(before ? &before->parked_after : &account->first_parked) = after;
	*(after ? &after->parked_before : &account->last_parked) = before;
	peer->parked_before = peer->parked_after = NULL;
	peer->parked_ns = 0;
}

void peer_look_again(struct peer *peer)
{
	sd_event_source_set_io_events(peer->source, PEER_READABLE);
}

/* --- peers --- */

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

static void peer_close(struct peer *peer)
{
	const struct closers_client client = { .was_served = peer->user && peer->has_left,
		.was_sent_files = peer->was_sent_files };

	closers_close_connection(peer->server->closers, peer->account, client, &peer->fd);
}

struct peer *peer_free(struct peer *peer)
{
	if (!peer)
		return NULL;
	if (peer->parked_ns)
		peer_unpark(peer);
	if (peer->user)
		users_leave(&peer->server->users, peer->user);
	sd_event_source_disable_unref(peer->source);
	peer_close(peer);
	unlink_peer(peer);
	server_resume_accepting(peer->server);
	free(peer);
	return NULL;
}

/* --- messages --- */

int peer_send(struct peer *peer, const union wire_message *message, const int fds[], unsigned n_fds)
{
	peer->was_sent_files |= n_fds > 0;
	return wire_send(peer->fd, message, fds, n_fds);
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
	int r = peer->is_bare ? 0 : socket_has_descriptors(peer->fd);

	if (r < 0)
		return r;
	return r ? -EBADMSG : wire_receive(peer->fd, WIRE_FROM_CLIENT, ret);
}

int peer_refuse(struct peer *peer, enum policy_rule rule, const char *text)
{
	struct policy_refusal refusal;

	policy_refuse(&refusal, rule, "%s", text);
	return server_refuse(peer->server, peer->fd, peer->uid, &refusal);
}

int peer_turn_away(struct peer *peer)
{
	const struct policy_access *access = &peer->server->config->access;
	_cleanup_(credentials_done) struct rules_user who = {};
	struct policy_refusal refusal;
	int r = credentials_of(peer->fd, &who);

	if (r < 0 || policy_admits(access, server_owner(peer->server), &who, &refusal))
		return -EACCES;
	r = server_refuse(peer->server, peer->fd, peer->uid, &refusal);
	return r < 0 ? r : refusal.error;
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
