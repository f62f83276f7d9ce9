/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/admission.h"

#include <errno.h>
#include <poll.h>

#include "common/macro.h"
#include "daemon/admit/credentials.h"
#include "daemon/close/socket-closer.h"
#include "daemon/serve/conversation.h"

/* Drops the newest peer of @account, which pays for it. */
static void drop_one_of(struct server *server, unsigned account)
{
	struct policy_refusal refusal;
	struct peer *peer = server->peers;

	while (peer->account != account)
		peer = peer->next;
	policy_refuse(&refusal, POLICY_CLIENTS,
		"All places are taken, and user %u has most of them: uncored gave this place to "
		"another user.",
		peer->uid);
	server_refuse(server, peer->fd, peer->uid, &refusal);
	peer_free(peer);
	budget_charge_unasked(&server->budget, account, server_take_cost(server));
}

/*
 * May @account have another connection? If all places are taken, the account with the most
 * connections gives one up, if it has at least two more than @account. Returns 1: yes; 0: no, *@ret
 * says why; -EAGAIN: not yet, because @others_are_heard is false and some clients may have left.
 */
static int admission_has_room(struct server *server, const struct rules_user *who, unsigned account,
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
			"uncored is still closing connections or doorbells of user %u, because "
			"programs of that user delay it.",
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

/* A client that left before it was heard needs no answer. */
static bool admission_has_left(int fd)
{
	struct pollfd end = { .fd = fd };

	return (poll(&end, 1, 0) == 1 && end.revents & POLLHUP) ||
	       conversation_first_bytes(fd) == 0;
}

/*
 * Closes a connection before the policy judges it, if the client has left, or too many descriptors
 * of the account wait to be closed. In a storm of connections most clients have left already. The
 * close wakes every watcher of the client's end. But adding a watcher costs the client more than
 * waking it costs us, and the client had only the time until it was accepted. True: the connection
 * is gone.
 */
static bool turn_away(struct server *server, int *fd, uid_t uid, unsigned account)
{
	struct policy_refusal refusal;

	if (closers_have_too_many(server->closers, account,
		    server->accounts.accounts[account].n_peers, server->max_peers_of_user)) {
		policy_refuse(&refusal, POLICY_CLOSING,
			"Too many connections or doorbells of user %u wait to be closed; uncored "
			"gives new ones no answer.",
			uid);
		server_count_refusal(server, uid, &refusal);
	} else if (!admission_has_left(*fd)) {
		return false;
	}
	closers_turn_away(server->closers, account, fd);
	return true;
}

/* What the policy lets a client do. A user that has tables of teams may collect them, even if the
 * rules no longer admit the user. */
enum verdict { REFUSED, MAY_COLLECT, ADMITTED };

/* Unless *@who is admitted, *@ret says why not. */
static enum verdict admission_judge_user(
	struct server *server, const struct rules_user *who, struct policy_refusal *ret)
{
	if (policy_admits(&server->config->access, server_owner(server), who, ret))
		return ADMITTED;
	return team_list_has(server->teams, who->uid) ? MAY_COLLECT : REFUSED;
}

struct newcomer {
	struct rules_user who;
	unsigned account;
	enum verdict verdict;
	struct policy_refusal why; /* why the verdict is not ADMITTED */
};

/* May the newcomer enter? Returns as admission_has_room(); *@ret is valid only with 0. */
static int may_enter(struct server *server, const struct newcomer *newcomer, bool others_are_heard,
	struct policy_refusal *ret)
{
	if (newcomer->verdict == REFUSED) {
		*ret = newcomer->why;
		return 0;
	}
	return admission_has_room(server, &newcomer->who, newcomer->account, others_are_heard, ret);
}

static int let_in(
	struct server *server, int *fd, const struct newcomer *newcomer, struct peer **ret)
{
	int r = peer_new(server, fd, newcomer->who.uid, newcomer->account, ret);

	if (r >= 0)
		(*ret)->only_collects = newcomer->verdict == MAY_COLLECT;
	return r;
}

/* If the newcomer is let in, the peer takes over *@fd. Sets newcomer->account as soon as the
 * account is known. */
static int admission_admit_one(struct server *server, int *fd, bool others_are_heard,
	struct newcomer *newcomer, struct peer **ret)
{
	struct policy_refusal refusal;
	int r = credentials_of(*fd, &newcomer->who);
	unsigned account;

	if (r < 0)
		return r;
	account = server_account_of(server, newcomer->who.uid);
	if (account == ACCOUNTS_NONE)
		return -ENOSPC;
	newcomer->account = account;
	if (turn_away(server, fd, newcomer->who.uid, account))
		return 0;
	listener_take_bare_newcomer(*fd);
	newcomer->verdict = admission_judge_user(server, &newcomer->who, &newcomer->why);
	r = may_enter(server, newcomer, others_are_heard, &refusal);
	if (r == 1)
		return let_in(server, fd, newcomer, ret);
	if (r == 0)
		server_refuse(server, *fd, newcomer->who.uid, &refusal);
	return r;
}

int admission_accept(struct server *server, int *fd, bool others_are_heard)
{
	struct newcomer newcomer = { .account = ACCOUNTS_NONE };
	struct peer *peer = NULL;
	int r = admission_admit_one(server, fd, others_are_heard, &newcomer, &peer);

	if (r != -EAGAIN)
		closers_close_connection(
			server->closers, newcomer.account, (struct closers_client){}, fd);
	if (newcomer.account != ACCOUNTS_NONE)
		budget_charge_unasked(&server->budget, newcomer.account, server_take_cost(server));
	credentials_done(&newcomer.who);
	return peer ? conversation_begin(peer) : r;
}

/* A peer that may only collect tables may go on doing so. If the rules admit its user now, the peer
 * may do everything. */
static bool may_stay(struct peer *peer, const struct rules_user *who, struct policy_refusal *ret)
{
	struct server *server = peer->server;

	if (!policy_admits(&server->config->access, server_owner(server), who, ret))
		return peer->only_collects;
	peer->only_collects = false;
	return true;
}

void admission_review(struct peer *peer)
{
	_cleanup_(credentials_done) struct rules_user who = {};
	struct policy_refusal refusal;

	if (credentials_of(peer->fd, &who) < 0) {
		peer_free(peer);
	} else if (!may_stay(peer, &who, &refusal)) {
		server_refuse(peer->server, peer->fd, peer->uid, &refusal);
		peer_free(peer);
	} else {
		peer_limit_rate(peer);
	}
}
