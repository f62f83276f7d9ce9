/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/team-requests.h"

#include <errno.h>
#include <string.h>

#include "common/clock.h"
#include "daemon/serve/teams-watch.h"
#include "daemon/teams/team-room.h"

/*
 * The charge for a new table. The table makes the service manager work for us: two messages, and
 * descriptors. uncored cannot measure that work, but a flood of tables must not become a flood for
 * the manager.
 */
static const uint64_t NEW_TABLE_NS = 1000000;

bool team_requests_is_collecting(const union wire_message *request)
{
	return request->header.opcode == WIRE_TEAM && request->team.wish != TEAM_JOIN;
}

static uint32_t uid_of(const struct peer *peer, const struct wire_team *team)
{
	return team->uid == TEAM_OWN ? peer->uid : team->uid;
}

static int send_table(struct peer *peer, const struct team *team)
{
	union wire_message reply;

	wire_begin(&reply, WIRE_TABLE);
	reply.table.run = team->run;
	reply.table.layout = team->layout;
	reply.table.uid = team->uid;
	reply.table.bytes = team->bytes;
	reply.table.made_ns = team->made_ns;
	memcpy(reply.table.name, team->name, sizeof reply.table.name);
	return peer_send(peer, &reply, &team->fd, 1);
}

/* This is not a refusal: it tells a client that it has seen all tables. */
static int say_none(struct peer *peer)
{
	union wire_message reply;

	wire_error(&reply, -ENOENT, "uncored keeps no such table.");
	return peer_send(peer, &reply, NULL, 0);
}

static int refuse_table(struct peer *peer, int error)
{
	switch (error) {
	case -EDQUOT:
		return peer_refuse(peer, POLICY_TEAMS,
			"This user has too many tables of teams, or too much memory in them.");
	case -EINVAL:
		return peer_refuse(peer, POLICY_TABLE,
			"A table takes whole pages, at most 160 MiB, and a run that another may "
			"follow.");
	default:
		return peer_refuse(peer, POLICY_DESCRIPTORS,
			"uncored has no memory or descriptor for another table: try again later.");
	}
}

static int answer_join(struct peer *peer, const struct teams_wish *wish)
{
	struct server *server = peer->server;
	const struct team *team;
	uint64_t now_ns = clock_now_ns();
	int r;

	team_room_enforce_uid(server->teams, wish->uid, now_ns);
	r = teams_join(server->teams, wish, now_ns, &team);
	if (r == 1) {
		budget_charge_unasked(&server->budget, peer->account, NEW_TABLE_NS);
		teams_watch_new(server);
	}
	return r < 0 ? refuse_table(peer, r) : send_table(peer, team);
}

static int answer_look(struct peer *peer, const struct wire_team *request, uint32_t uid)
{
	const struct team_list *teams = peer->server->teams;
	const struct team *team = *request->name
					  ? team_list_find(teams, uid, request->name, request->run)
					  : team_list_find_number(teams, uid, request->number);

	return team ? send_table(peer, team) : say_none(peer);
}

static int answer_forget(struct peer *peer, const struct teams_wish *wish)
{
	union wire_message reply;

	if (!teams_forget(peer->server->teams, wish))
		return say_none(peer);
	wire_begin(&reply, WIRE_DONE);
	return peer_send(peer, &reply, NULL, 0);
}

int team_requests_answer(struct peer *peer, const union wire_message *request)
{
	const struct wire_team *team = &request->team;
	const struct teams_wish wish = {
		.uid = uid_of(peer, team),
		.account = owners_account_of(peer->server->owners, peer->uid),
		.name = team->name,
		.layout = team->layout,
		.run = team->run,
		.bytes = team->bytes,
	};

	if (wish.uid != peer->uid && peer->uid)
		return peer_refuse(peer, POLICY_ROOT,
			"Only root may look at tables of another user, or have them forgotten.");
	if (team->wish == TEAM_JOIN) /* many ranks join at once: looks at no more than it must */
		return answer_join(peer, &wish);
	teams_review_uid(peer->server->teams, wish.uid, clock_now_ns());
	return team->wish == TEAM_LOOK ? answer_look(peer, team, wish.uid)
				       : answer_forget(peer, &wish);
}
