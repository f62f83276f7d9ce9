/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/requests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/macro.h"
#include "daemon/plan/plan-report.h"
#include "daemon/serve/deaths.h"
#include "daemon/serve/job-owner.h"
#include "daemon/serve/reports.h"

static int answer_hello(struct peer *peer, const union wire_message *request)
{
	struct counters *counters = peer->server->counters;
	int fds[WIRE_FDS_MAX] = { counters->generation.shared_page.read_fd };
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
	reply.welcome.page_bytes = counters->generation.shared_page.header->page_bytes;
	memcpy(&fds[1], peer->user->doorbells, counters->n_readers * sizeof *fds);
	fds[counters->n_readers + 1] = peer->user->wakeups_fd;
	deaths_note_living(peer);
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

/* A client gets the last report if that is not older than this. */
static const uint64_t STATE_AGE_NS = 100000000, PLATFORMS_AGE_NS = UINT64_MAX;

static char *make_report(struct server *server, enum report which, struct fault *fault)
{
	fault->text[0] = '\0';
	switch (which) {
	case REPORT_PLATFORMS:
		return platform_report_json(server->counters->origin.platform_dirs, fault);
	case REPORT_CLIENTS:
		return clients_json(server);
	default:
		return state_json(server);
	}
}

/*
 * Gets the report as JSON, which stays the server's. Frequent requests cost neither CPU nor memory.
 * -ENOMEM, -EMFILE; -EINVAL: a platform file is wrong now. The fault says why.
 */
static int get_report(struct server *server, enum report which, const struct shared_report **ret,
	struct fault *fault)
{
	struct shared_report *report = &server->reports[which];
	_cleanup_free_ char *json = NULL;
	int r;

	*ret = report;
	if (shared_report_is_recent(
		    report, which == REPORT_PLATFORMS ? PLATFORMS_AGE_NS : STATE_AGE_NS))
		return 0;
	json = make_report(server, which, fault);
	if (!json && fault->text[0])
		return -EINVAL;
	r = json ? shared_report_write(report, json) : -ENOMEM;
	if (r >= 0)
		return 0;
	return fault_set(fault, r, "uncored has no memory or descriptor for a report.");
}

static int send_report(struct peer *peer, enum report which)
{
	const struct shared_report *report;
	union wire_message reply;
	struct fault fault;
	uint64_t before_ns = clock_thread_ns();
	int r = get_report(peer->server, which, &report, &fault);

	peer->excused_ns = clock_thread_ns() - before_ns;
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
	return send_report(peer, REPORT_CLIENTS);
}

static int answer_owner(struct peer *peer, const union wire_message *request)
{
	if (job_owner_set(peer->server, request->owner.uid, peer) < 0)
		return peer_refuse(peer, POLICY_PAGE,
			"uncored has no memory or descriptors for another page: the owner is as "
			"it was.");
	state_tell(peer->server);
	return peer_done(peer);
}

/* The state in which a request may come. */
enum state { NOT_WELCOMED, WELCOMED, ANY };

static const struct {
	enum wire_opcode opcode;
	enum state state;
	int (*answer)(struct peer *peer, const union wire_message *request);
	const char *only_root; /* why other users may not; NULL: they may */
} requests[] = {
	{ WIRE_HELLO, NOT_WELCOMED, answer_hello, NULL },
	{ WIRE_INFO, WELCOMED, answer_info, NULL },
	{ WIRE_OWNER, WELCOMED, answer_owner, "Only root may say whose job the node runs." },
	{ WIRE_RENEW, WELCOMED, answer_renew, NULL },
	{ WIRE_TEAM, ANY, team_requests_answer, NULL },
	{ WIRE_LAST, ANY, team_requests_answer, NULL },
	{ WIRE_CLIENTS, WELCOMED, answer_clients, "Only root is told who the clients are." },
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
	if (peer->only_collects && !team_requests_is_collecting(request))
		return peer_turn_away(peer);
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		if (requests[i].opcode != request->header.opcode)
			continue;
		if (!is_in_order(peer, requests[i].state, request))
			return peer_refuse(peer, POLICY_ORDER,
				"HELLO must be the first message of a connection, and the only "
				"HELLO.");
		if (requests[i].only_root && peer->uid)
			return peer_refuse(peer, POLICY_ROOT, requests[i].only_root);
		return requests[i].answer(peer, request);
	}
	return peer_refuse(peer, POLICY_REQUEST, "uncored knows no such request.");
}
