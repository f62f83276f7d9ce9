/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/peer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/macro.h"
#include "common/wire.h"
#include "daemon/bells.h"
#include "daemon/credentials.h"

/* --- what a peer holds --- */

static void link_peer(struct peer *peer)
{
	struct server *server = peer->server;

	peer->next = server->peers;
	if (peer->next)
		peer->next->previous = peer;
	server->peers = peer;
	server_count_peer(server, 1);
}

static void unlink_peer(struct peer *peer)
{
	struct server *server = peer->server;

	if (peer->next)
		peer->next->previous = peer->previous;
	if (peer->previous)
		peer->previous->next = peer->next;
	else
		server->peers = peer->next;
	server_count_peer(server, -1);
}

static void take_down(struct peer *peer)
{
	while (peer->n_doorbells) {
		struct peer_doorbell *doorbell = &peer->doorbells[--peer->n_doorbells];

		if (doorbell->slot >= 0)
			reader_remove(&peer->server->hardware->readers[peer->n_doorbells],
				doorbell->slot);
		close_fd(&doorbell->fd);
	}
	peer->bells = bells_unref(&peer->server->bells, peer->bells);
}

struct peer *peer_free(struct peer *peer)
{
	if (!peer)
		return NULL;
	take_down(peer);
	sd_event_source_disable_unref(peer->source);
	undertaker_close(&peer->server->undertaker, &peer->fd);
	unlink_peer(peer);
	server_resume_accepting(peer->server);
	free(peer);
	return NULL;
}

/* One doorbell per socket, and where to sleep; take_down() takes back what there is. */
static int equip(struct peer *peer)
{
	struct hardware *hardware = peer->server->hardware;
	int r = bells_ref(&peer->server->bells, peer->uid, hardware->n_readers, &peer->bells);

	if (r < 0)
		return r;
	while (peer->n_doorbells < hardware->n_readers) {
		struct peer_doorbell *doorbell = &peer->doorbells[peer->n_doorbells];

		doorbell->slot = -1;
		doorbell->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (doorbell->fd < 0)
			return -errno;
		doorbell->slot = reader_add(&hardware->readers[peer->n_doorbells], doorbell->fd,
			peer->uid, &peer->bells->of_sockets[peer->n_doorbells]);
		peer->n_doorbells++;
		if (doorbell->slot < 0)
			return doorbell->slot;
	}
	return 0;
}

/* --- requests --- */

/* Tells @uid at the other end of @fd why, and counts it. */
static int refuse(struct server *server, int fd, uid_t uid, const struct policy_refusal *refusal)
{
	union wire_message reply;

	server_note_refusal(server, uid, refusal);
	wire_error(&reply, refusal->error, "%s", refusal->text);
	return wire_send(fd, &reply, NULL, 0);
}

static int answer_refusal(struct peer *peer, enum policy_rule rule, const char *text)
{
	struct policy_refusal refusal;

	policy_refuse(&refusal, rule, "%s", text);
	return refuse(peer->server, peer->fd, peer->uid, &refusal);
}

static int answer_hello(struct peer *peer, const union wire_message *request)
{
	struct hardware *hardware = peer->server->hardware;
	int fds[WIRE_FDS_MAX] = { hardware->publication.read_fd };
	union wire_message reply;
	int r;

	if (!request->hello.version)
		return answer_refusal(
			peer, POLICY_VERSION, "There is no version 0 of uncored's protocol.");
	r = equip(peer);
	if (r < 0) {
		take_down(peer);
		return answer_refusal(peer, POLICY_DESCRIPTORS,
			"uncored has no descriptors left for another client: try again later.");
	}
	wire_begin(&reply, WIRE_WELCOME);
	reply.welcome.version = wire_common_version(request->hello.version);
	reply.welcome.n_sockets = peer->n_doorbells;
	reply.welcome.page_bytes = hardware->publication.header->page_bytes;
	for (unsigned i = 0; i < peer->n_doorbells; i++)
		fds[i + 1] = peer->doorbells[i].fd;
	fds[peer->n_doorbells + 1] = peer->bells->read_fd;
	peer->welcomed = true;
	return wire_send(peer->fd, &reply, fds, peer->n_doorbells + 2);
}

static int answer_info(struct peer *peer, const union wire_message *request)
{
	const struct report *report;
	union wire_message reply;
	struct fault fault;
	int r;

	if (request->info.topic > WIRE_PLATFORMS)
		return answer_refusal(
			peer, POLICY_TOPIC, "uncored has nothing to say on such a topic.");
	r = server_report(peer->server, request->info.topic, &report, &fault);
	if (r < 0)
		return answer_refusal(peer, POLICY_REPORT, fault.text);
	wire_begin(&reply, WIRE_REPORT);
	reply.report.json_bytes = report->size_bytes;
	return wire_send(peer->fd, &reply, &report->fd, 1);
}

static int answer_owner(struct peer *peer, const union wire_message *request)
{
	union wire_message reply;

	if (peer->uid != 0)
		return answer_refusal(
			peer, POLICY_ROOT, "Only root may say whose job the node runs.");
	if (server_set_owner(peer->server, request->owner.uid, peer) < 0)
		return answer_refusal(peer, POLICY_PAGE,
			"uncored has no memory or descriptors for another page: the owner is as "
			"it was.");
	wire_begin(&reply, WIRE_DONE);
	return wire_send(peer->fd, &reply, NULL, 0);
}

static const struct {
	enum wire_opcode opcode;
	bool welcomed; /* the state in which it may come */
	int (*answer)(struct peer *peer, const union wire_message *request);
} requests[] = {
	{ WIRE_HELLO, false, answer_hello },
	{ WIRE_INFO, true, answer_info },
	{ WIRE_OWNER, true, answer_owner },
};

static int answer(struct peer *peer, const union wire_message *request)
{
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++)
		if (requests[i].opcode == request->header.opcode) {
			if (requests[i].welcomed == peer->welcomed)
				return requests[i].answer(peer, request);
			return answer_refusal(peer, POLICY_ORDER,
				"HELLO must be the first message of a connection, and the only "
				"HELLO.");
		}
	return answer_refusal(peer, POLICY_REQUEST, "uncored knows no such request.");
}

/* No request carries descriptors. One that does is left where it is: see undertaker.h. */
static int receive_bare(int fd, struct wire_packet *ret)
{
	int r = undertaker_finds_descriptors(fd);

	if (r < 0)
		return r;
	return r ? -EBADMSG : wire_receive(fd, WIRE_FROM_CLIENT, ret);
}

/*
 * The three ends of an error. A request that cannot be granted gets an error message. A peer that
 * breaks the protocol, does not read its answers or has gone is dropped. Nothing that a peer does
 * stops the loop.
 */
static int on_readable(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct peer *peer = userdata;
	struct wire_packet packet;
	int r = receive_bare(fd, &packet);

	(void)source;
	(void)events;
	if (r == -EAGAIN || r == -EINTR)
		return 0;
	if (r == 1) {
		r = answer(peer, &packet.message);
	} else if (r == -EOPNOTSUPP) {
		r = answer_refusal(peer, POLICY_REQUEST, "uncored knows no such request.");
	} else if (r == -EBADMSG) {
		answer_refusal(
			peer, POLICY_MESSAGE, "This is not a message of uncored's protocol.");
	} else if (r == 0) {
		r = -ECONNRESET;
	}
	if (r < 0)
		peer_free(peer);
	return 0;
}

/* --- coming in --- */

static unsigned count_of_user(const struct server *server, uid_t uid)
{
	unsigned n = 0;

	for (const struct peer *peer = server->peers; peer; peer = peer->next)
		n += peer->uid == uid;
	return n;
}

/* May this one have another connection? False: *ret says why not. */
static bool has_room(const struct server *server, uid_t uid, struct policy_refusal *ret)
{
	const struct policy_load load = {
		.n = server->n_peers,
		.most = server->max_peers,
		.n_of_user = count_of_user(server, uid),
		.most_of_user = server->max_peers_of_user,
	};

	return policy_has_room(&load, uid, ret);
}

/* A client that floods its connection is read no further until the second is over. */
static int limit_rate(struct peer *peer)
{
	return sd_event_source_set_ratelimit(
		peer->source, 1000000, peer->server->config->requests_per_second);
}

static int watch_peer(struct peer *peer)
{
	/* Room for a few answers, no more: whoever does not read them is dropped, before the
	 * descriptors that they carry pile up. */
	const int answers_bytes = 8192;
	int r;

	if (setsockopt(peer->fd, SOL_SOCKET, SO_SNDBUF, &answers_bytes, sizeof answers_bytes) < 0)
		return -errno;
	r = sd_event_add_io(
		peer->server->event, &peer->source, peer->fd, EPOLLIN, on_readable, peer);

	return r < 0 ? r : limit_rate(peer);
}

static int link_new_peer(struct server *server, int *fd, uid_t uid)
{
	struct peer *peer = calloc(1, sizeof *peer);
	int r;

	if (!peer)
		return -ENOMEM;
	peer->server = server;
	peer->uid = uid;
	peer->fd = take_fd(fd);
	link_peer(peer);
	r = watch_peer(peer);
	if (r < 0)
		peer_free(peer);
	return r;
}

/* Whoever is taken in takes over *@fd. */
static int admit(struct server *server, int *fd)
{
	_cleanup_(credentials_done) struct policy_peer who = {};
	struct policy_refusal refusal;
	int r = credentials_of(*fd, &who);

	if (r < 0)
		return r;
	if (policy_admits(&server->config->access, server_owner(server), &who, &refusal) &&
		has_room(server, who.uid, &refusal))
		return link_new_peer(server, fd, who.uid);
	refuse(server, *fd, who.uid, &refusal);
	return 0;
}

int peer_accept(struct server *server, int fd)
{
	int r;

	server_take_bare_messages(fd);
	r = admit(server, &fd);
	undertaker_close(&server->undertaker, &fd);
	return r;
}

void peer_review(struct peer *peer)
{
	_cleanup_(credentials_done) struct policy_peer who = {};
	struct policy_refusal refusal;

	if (credentials_of(peer->fd, &who) < 0) {
		peer_free(peer);
	} else if (!policy_admits(&peer->server->config->access, server_owner(peer->server), &who,
			   &refusal)) {
		refuse(peer->server, peer->fd, peer->uid, &refusal);
		peer_free(peer);
	} else {
		limit_rate(peer);
	}
}
