/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/requests.h"

#include <string.h>

#include "common/macro.h"
#include "daemon/serve/job-owner.h"
#include "daemon/serve/reports.h"
#include "daemon/serve/team-requests.h"

static int answer_hello(struct peer *peer, const union wire_message *request)
{
	struct counters *counters = peer->server->counters;
	int fds[WIRE_FDS_MAX] = { counters->generation.publication.read_fd };
	union wire_message reply;
	int r;

	if (!request->hello.version)
		return peer_refuse(
			peer, POLICY_VERSION, "There is no version 0 of uncored's protocol.");
	r = users_enter(&peer->server->users, peer->uid, peer->account, &peer->user);
	if (r < 0)
		return peer_refuse(peer, POLICY_DESCRIPTORS,
			"uncored has no descriptors left for another client: try again later.");
	if (peer->user->n_clients == 1)
		peer_tell_newcomer(peer);
	wire_begin(&reply, WIRE_WELCOME);
	reply.welcome.version = wire_common_version(request->hello.version);
	reply.welcome.n_sockets = counters->n_readers;
	reply.welcome.page_bytes = counters->generation.publication.header->page_bytes;
	memcpy(&fds[1], peer->user->doorbells, counters->n_readers * sizeof *fds);
	fds[counters->n_readers + 1] = peer->user->wakeups_fd;
	return peer_send(peer, &reply, fds, counters->n_readers + 2);
}

static int answer_renew(struct peer *peer, const union wire_message *request)
{
	unsigned n_sockets = peer->server->counters->n_readers;
	union wire_message reply;

	(void)request;
	if (closers_hang(peer->server->closers, peer->account))
		return peer_refuse(peer, POLICY_CLOSING,
			"uncored is still closing former doorbells of this user, because programs "
			"of this user delay it.");
	if (users_renew_doorbells(&peer->server->users, peer->user) < 0)
		return peer_refuse(peer, POLICY_DESCRIPTORS,
			"uncored has no descriptors left for new doorbells: try again later.");
	wire_begin(&reply, WIRE_RENEWED);
	reply.renewed.n_sockets = n_sockets;
	return peer_send(peer, &reply, peer->user->doorbells, n_sockets);
}

static int send_report(struct peer *peer, enum report which)
{
	const struct shared_report *report;
	union wire_message reply;
	struct fault fault;
	int r = reports_get(peer->server, which, &report, &fault);

	if (r < 0)
		return peer_refuse(peer, POLICY_REPORT, fault.text);
	wire_begin(&reply, WIRE_REPORT);
	reply.report.json_bytes = report->size_bytes;
	return peer_send(peer, &reply, &report->read_fd, 1);
}

static int answer_info(struct peer *peer, const union wire_message *request)
{
	if (request->info.topic > WIRE_PLATFORMS)
		return peer_refuse(
			peer, POLICY_TOPIC, "uncored has nothing to say on such a topic.");
	return send_report(peer, (enum report)request->info.topic);
}

static int answer_clients(struct peer *peer, const union wire_message *request)
{
	(void)request;
	if (peer->uid != 0)
		return peer_refuse(peer, POLICY_ROOT, "Only root is told who the clients are.");
	return send_report(peer, REPORT_CLIENTS);
}

static int answer_owner(struct peer *peer, const union wire_message *request)
{
	union wire_message reply;

	if (peer->uid != 0)
		return peer_refuse(peer, POLICY_ROOT, "Only root may say whose job the node runs.");
	if (job_owner_set(peer->server, request->owner.uid, peer) < 0)
		return peer_refuse(peer, POLICY_PAGE,
			"uncored has no memory or descriptors for another page: the owner is as "
			"it was.");
	wire_begin(&reply, WIRE_DONE);
	return peer_send(peer, &reply, NULL, 0);
}

/* The state in which a request may come. */
enum state { NOT_WELCOMED, WELCOMED, ANY };

static const struct {
	enum wire_opcode opcode;
	enum state state;
	int (*answer)(struct peer *peer, const union wire_message *request);
} requests[] = {
	{ WIRE_HELLO, NOT_WELCOMED, answer_hello },
	{ WIRE_INFO, WELCOMED, answer_info },
	{ WIRE_OWNER, WELCOMED, answer_owner },
	{ WIRE_RENEW, WELCOMED, answer_renew },
	{ WIRE_TEAM, ANY, team_requests_answer },
	{ WIRE_CLIENTS, WELCOMED, answer_clients },
};

static bool is_in_order(
	const struct peer *peer, enum state state, const union wire_message *request)
{
	if (state == ANY)
		return peer->user || team_requests_is_collecting(request);
	return (state == WELCOMED) == (peer->user != NULL);
}

int requests_answer(struct peer *peer, const union wire_message *request)
{
	peer->n_requests++;
	if (peer->refusal && !team_requests_is_collecting(request))
		return peer_turn_away(peer);
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++)
		if (requests[i].opcode == request->header.opcode) {
			if (is_in_order(peer, requests[i].state, request))
				return requests[i].answer(peer, request);
			return peer_refuse(peer, POLICY_ORDER,
				"HELLO must be the first message of a connection, and the only "
				"HELLO.");
		}
	return peer_refuse(peer, POLICY_REQUEST, "uncored knows no such request.");
}
