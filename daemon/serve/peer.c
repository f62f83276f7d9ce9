/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/peer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "common/clock.h"
#include "common/macro.h"
#include "common/wire.h"
#include "daemon/serve/credentials.h"
#include "daemon/serve/socket-closer.h"

/* CPU time for one message of an honest client, from or to it: it takes microseconds, and a few ms
 * on an emulated machine, or where the host takes the CPU away meanwhile. */
static const uint64_t DEAR_NS = 50000000;

enum { DEAR_MAX = 1 };

/* Edge-triggered: what is readable and waits for its turn is reported once, not at each turn of the
 * loop for every other one. */
static const uint32_t READABLE = EPOLLIN | EPOLLET;

/* How long a connection is parked at most, and the account then waits for each of the others: with
 * 512 of them, a client of the library is answered within its second. */
static const uint64_t PARKED_MAX_NS = 200000000;

/* --- what a peer holds --- */

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

	if (peer->next)
		peer->next->previous = peer->previous;
	if (peer->previous)
		peer->previous->next = peer->next;
	else
		server->peers = peer->next;
	accounts_leave(&server->accounts, peer->account, clock_now_ns());
	server_count_peer(server, -1);
}

static void leave_parking(struct peer *peer)
{
	if (peer->parked_ns)
		peer->server->accounts.accounts[peer->account].n_parked--;
	peer->parked_ns = 0;
}

struct peer *peer_free(struct peer *peer)
{
	if (!peer)
		return NULL;
	leave_parking(peer);
	if (peer->user)
		users_leave(&peer->server->users, peer->user);
	sd_event_source_disable_unref(peer->source);
	closers_close_connection(peer->server->closers, peer->account, &peer->fd);
	unlink_peer(peer);
	server_resume_accepting(peer->server);
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

/* --- messages --- */

/*
 * To receive from a client, to answer it and to let it go wakes all that watches its end of the
 * connection. Of that there may be very much: then it is dropped, for the closers to wake.
 */
static int check_price(struct peer *peer, uint64_t before_ns)
{
	peer->n_dear += clock_thread_ns() - before_ns > DEAR_NS;
	return peer->n_dear > DEAR_MAX ? -ECONNABORTED : 0;
}

static int send_to(
	struct peer *peer, const union wire_message *message, const int fds[], unsigned n_fds)
{
	uint64_t before_ns = clock_thread_ns();
	int r = wire_send(peer->fd, message, fds, n_fds);

	return r < 0 ? r : check_price(peer, before_ns);
}

/* No request carries descriptors. One that does is left where it is: see socket-closer.h. */
static int receive_from(struct peer *peer, struct wire_packet *ret)
{
	uint64_t before_ns = clock_thread_ns();
	int r = socket_has_descriptors(peer->fd), price;

	if (r < 0)
		return r;
	r = r ? -EBADMSG : wire_receive(peer->fd, WIRE_FROM_CLIENT, ret);
	price = check_price(peer, before_ns);
	return r >= 0 && price < 0 ? price : r;
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
	struct counters *counters = peer->server->counters;
	int fds[WIRE_FDS_MAX] = { counters->generation.publication.read_fd };
	union wire_message reply;
	int r;

	if (!request->hello.version)
		return answer_refusal(
			peer, POLICY_VERSION, "There is no version 0 of uncored's protocol.");
	r = users_enter(&peer->server->users, peer->uid, peer->account, &peer->user);
	if (r < 0)
		return answer_refusal(peer, POLICY_DESCRIPTORS,
			"uncored has no descriptors left for another client: try again later.");
	wire_begin(&reply, WIRE_WELCOME);
	reply.welcome.version = wire_common_version(request->hello.version);
	reply.welcome.n_sockets = counters->n_readers;
	reply.welcome.page_bytes = counters->generation.publication.header->page_bytes;
	memcpy(&fds[1], peer->user->doorbells, counters->n_readers * sizeof *fds);
	fds[counters->n_readers + 1] = peer->user->wakeups_fd;
	return send_to(peer, &reply, fds, counters->n_readers + 2);
}

static int answer_renew(struct peer *peer, const union wire_message *request)
{
	unsigned n_sockets = peer->server->counters->n_readers;
	union wire_message reply;

	(void)request;
	if (closers_hang(peer->server->closers, peer->account))
		return answer_refusal(peer, POLICY_CLOSING,
			"The doorbells that this user had are still being closed, for its programs "
			"keep that up.");
	if (users_renew_doorbells(&peer->server->users, peer->user) < 0)
		return answer_refusal(peer, POLICY_DESCRIPTORS,
			"uncored has no descriptors left for new doorbells: try again later.");
	wire_begin(&reply, WIRE_RENEWED);
	reply.renewed.n_sockets = n_sockets;
	return send_to(peer, &reply, peer->user->doorbells, n_sockets);
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
	return send_to(peer, &reply, &report->read_fd, 1);
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
	return send_to(peer, &reply, NULL, 0);
}

static const struct {
	enum wire_opcode opcode;
	bool welcomed; /* the state in which it may come */
	int (*answer)(struct peer *peer, const union wire_message *request);
} requests[] = {
	{ WIRE_HELLO, false, answer_hello },
	{ WIRE_INFO, true, answer_info },
	{ WIRE_OWNER, true, answer_owner },
	{ WIRE_RENEW, true, answer_renew },
};

static int answer(struct peer *peer, const union wire_message *request)
{
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++)
		if (requests[i].opcode == request->header.opcode) {
			if (requests[i].welcomed == (peer->user != NULL))
				return requests[i].answer(peer, request);
			return answer_refusal(peer, POLICY_ORDER,
				"HELLO must be the first message of a connection, and the only "
				"HELLO.");
		}
	return answer_refusal(peer, POLICY_REQUEST, "uncored knows no such request.");
}

/*
 * The three ends of an error. A request that cannot be granted gets an error message. A peer that
 * breaks the protocol, does not read its answers or has gone is dropped, for which this returns
 * negative errno. Nothing that a peer does stops the loop.
 */
static int serve(struct peer *peer)
{
	struct wire_packet packet;
	int r = receive_from(peer, &packet);

	if (r == -EAGAIN || r == -EINTR)
		return 0;
	if (r == 1)
		return answer(peer, &packet.message);
	if (r == -EOPNOTSUPP)
		return answer_refusal(peer, POLICY_REQUEST, "uncored knows no such request.");
	if (r == -EBADMSG)
		answer_refusal(
			peer, POLICY_MESSAGE, "This is not a message of uncored's protocol.");
	return r < 0 ? r : -ECONNRESET;
}

/* Its event comes no more until that is asked for: see READABLE. */
static void park(struct peer *peer, uint64_t now_ns, uint64_t wait_ns)
{
	struct account *account = &peer->server->accounts.accounts[peer->account];
	uint64_t until_ns = now_ns + (wait_ns < PARKED_MAX_NS ? wait_ns : PARKED_MAX_NS);

	peer->parked_ns = now_ns;
	if (account->n_parked++ && account->unpark_ns <= until_ns)
		return;
	account->unpark_ns = until_ns;
	server_wake_at(peer->server, until_ns);
}

/* Has its event come again if there is something to be read. */
static void look_again(struct peer *peer)
{
	sd_event_source_set_io_events(peer->source, READABLE);
}

void peer_unpark(struct peer *peer)
{
	leave_parking(peer);
	peer->is_due = true;
	look_again(peer);
}

/* Serves the next message of a peer, or parks it. False: the peer has been dropped. */
static bool hear(struct peer *peer)
{
	struct server *server = peer->server;
	unsigned account = peer->account;
	uint64_t now_ns = clock_now_ns(), wait_ns = budget_ask(&server->budget, account, now_ns);
	int r;

	if (wait_ns && !peer->is_due) {
		park(peer, now_ns, wait_ns);
		budget_charge_unasked(&server->budget, account, server_take_cost(server));
		return true;
	}
	peer->is_due = false;
	r = serve(peer);
	if (r < 0)
		peer_free(peer);
	budget_charge(&server->budget, account, server_take_cost(server));
	return r >= 0;
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct peer *peer = userdata;

	(void)source;
	(void)fd;
	(void)events;
	if (!peer->parked_ns && hear(peer) && !peer->parked_ns)
		look_again(peer);
	return 0;
}

/* --- coming in --- */

/* The newest. */
static void drop_one_of(struct server *server, unsigned account)
{
	struct policy_refusal refusal;
	struct peer *peer = server->peers;

	while (peer->account != account)
		peer = peer->next;
	policy_refuse(&refusal, POLICY_CLIENTS,
		"All places are taken, and user %u has most of them: this one is another user's "
		"now.",
		peer->uid);
	refuse(server, peer->fd, peer->uid, &refusal);
	peer_free(peer);
}

/*
 * May this account have another connection? If all places are taken, the one that has most of them
 * gives one up, unless that is this one. 1; 0: *ret says why not; -EAGAIN: not unless some leave,
 * and @others_are_heard, which may have left already, is false.
 */
static int has_room(struct server *server, const struct rules_user *who, unsigned account,
	bool others_are_heard, struct policy_refusal *ret)
{
	const struct account *own = &server->accounts.accounts[account];
	const struct policy_load load = {
		.n = server->n_peers,
		.most = server->max_peers,
		.n_of_user = own->n_peers,
		.most_of_user = server->max_peers_of_user,
	};
	unsigned largest;

	if (closers_hang(server->closers, account)) {
		policy_refuse(ret, POLICY_CLOSING,
			"What user %u held is still being closed, for its programs keep that up.",
			who->uid);
		return 0;
	}
	if (policy_has_room(&load, who->uid, ret))
		return 1;
	if (!others_are_heard)
		return -EAGAIN;
	largest = accounts_largest(&server->accounts);
	if (ret->rule != POLICY_CLIENTS ||
		server->accounts.accounts[largest].n_peers <= own->n_peers + 1)
		return 0;
	drop_one_of(server, largest);
	return 1;
}

/* A client that floods its connection is read no further until the second is over. */
static int limit_rate(struct peer *peer)
{
	return sd_event_source_set_ratelimit(
		peer->source, 1000000, peer->server->config->requests_per_second);
}

/* Room for a few answers, no more: a client that does not read them is dropped, before the
 * descriptors that they carry pile up. */
static int limit_answers(int fd)
{
	const int bytes = 8192;

	return setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes) < 0 ? -errno : 0;
}

static int new_peer(struct server *server, int *fd, uid_t uid, unsigned account, struct peer **ret)
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
	peer->fd = take_fd(fd);
	link_peer(peer);
	*ret = peer;
	return 0;
}

/* The size of the first message; 0: the client has gone again already, or has sent an empty one,
 * which is none; -EAGAIN: there is none yet. */
static int first_bytes(int fd)
{
	char first;
	ssize_t n = recv(fd, &first, sizeof first, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);

	return n < 0 ? -errno : (int)n;
}

/*
 * One that has gone without a word, which is what a storm of connections is made of, costs less to
 * close than to hand to a closer. If the client is there yet, and has only shut its end down, then
 * this wakes all that watches that end; but to watch costs a client ten times as much as to wake
 * costs us, and it had no more time for that than we took to accept.
 */
static void close_gone(int *fd)
{
	if (socket_is_at_end(*fd))
		close_fd(fd);
}

/* Whether *@who is taken in; as has_room(). */
static int may_enter(struct server *server, const struct rules_user *who, unsigned account,
	bool others_are_heard, struct policy_refusal *ret)
{
	if (!policy_admits(&server->config->access, server_owner(server), who, ret))
		return 0;
	return has_room(server, who, account, others_are_heard, ret);
}

/* A peer that is taken in takes over *@fd. *@ret_account is set if this returns 0. */
static int admit(struct server *server, int *fd, bool others_are_heard, unsigned *ret_account,
	struct peer **ret)
{
	_cleanup_(credentials_done) struct rules_user who = {};
	struct policy_refusal refusal;
	unsigned account;
	int r = credentials_of(*fd, &who);

	if (r < 0)
		return r;
	account = server_account_of(server, who.uid);
	if (account == ACCOUNTS_NONE)
		return -ENOSPC;
	*ret_account = account;
	if (first_bytes(*fd) == 0) {
		close_gone(fd);
		return 0;
	}
	server_take_bare_messages(*fd);
	r = may_enter(server, &who, account, others_are_heard, &refusal);
	if (r == 1)
		return new_peer(server, fd, who.uid, account, ret);
	if (r == 0)
		refuse(server, *fd, who.uid, &refusal);
	return r;
}

static int watch(struct peer *peer)
{
	int r = sd_event_add_io(
		peer->server->event, &peer->source, peer->fd, READABLE, on_readable, peer);

	return r < 0 ? r : limit_rate(peer);
}

/* The library says hello at once. It is answered at once, too: another turn of the loop costs as
 * much as the answer. */
static int begin(struct peer *peer)
{
	int r;

	if (first_bytes(peer->fd) > 0 && !hear(peer))
		return 0;
	r = watch(peer);
	if (r < 0)
		peer_free(peer);
	return r;
}

int peer_accept(struct server *server, int *fd, bool others_are_heard)
{
	unsigned account = ACCOUNTS_NONE;
	struct peer *peer = NULL;
	int r = admit(server, fd, others_are_heard, &account, &peer);

	if (r != -EAGAIN)
		closers_close_connection(server->closers, account, fd);
	if (account != ACCOUNTS_NONE)
		budget_charge_unasked(&server->budget, account, server_take_cost(server));
	return peer ? begin(peer) : r;
}

void peer_review(struct peer *peer)
{
	_cleanup_(credentials_done) struct rules_user who = {};
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
