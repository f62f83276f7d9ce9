/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/requests.h"

#include <errno.h>
#include <string.h>

#include "common/clock.h"
#include "common/macro.h"
#include "daemon/base/memfd.h"
#include "daemon/serve/deaths.h"
#include "daemon/serve/loop.h"
#include "daemon/teams/team-room.h"

/*
 * The charge for a new table. The table makes the service manager work for us: two messages, and
 * descriptors. uncored cannot measure that work, but a flood of tables must not become a flood for
 * the manager.
 */
static const uint64_t NEW_TABLE_NS = 1000000;

static const uint64_t NS_PER_S = 1000000000;

bool team_requests_is_collecting(const union wire_message *request)
{
	return (request->header.opcode == WIRE_TEAM || request->header.opcode == WIRE_LAST) &&
	       request->team.wish != TEAM_JOIN;
}

static uint32_t team_requests_uid_of(const struct peer *peer, const struct wire_team *team)
{
	return team->uid == TEAM_OWN ? peer->uid : team->uid;
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
			"A table takes whole pages, at most 192 MiB, and a run that another may "
			"follow.");
	default:
		return peer_refuse(peer, POLICY_DESCRIPTORS,
			"uncored has no memory or descriptor for another table: try again later.");
	}
}

/* What a client does to the open file description that it gets ends with the client: requests.h. */
static int send_table(struct peer *peer, const struct team *team)
{
	_cleanup_close_ int fd = memfd_reopen(team->fd);
	union wire_message reply;

	if (fd < 0)
		return refuse_table(peer, fd);
	wire_begin(&reply, WIRE_TABLE);
	reply.table.run = team->run;
	reply.table.layout = team->layout;
	reply.table.uid = team->uid;
	reply.table.bytes = team->bytes;
	reply.table.made_ns = team->made_ns;
	reply.table.n_others = team_count_others(team);
	memcpy(reply.table.name, team->name, sizeof reply.table.name);
	memcpy(reply.table.other, team->other, sizeof reply.table.other);
	return peer_send(peer, &reply, &fd, 1);
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
		budget_charge(&server->budget, peer->account, NEW_TABLE_NS);
		loop_wake_at(server->teams_source, now_ns + TEAMS_LOOK_S * NS_PER_S);
	}
	return r < 0 ? refuse_table(peer, r) : send_table(peer, team);
}

static int answer_look(struct peer *peer, const struct wire_team *request, uint32_t uid)
{
	struct team_list *teams = peer->server->teams;
	const struct team *team = *request->name
					  ? team_list_find(teams, uid, request->name, request->run)
					  : team_list_find_number(teams, uid, request->number);

	if (team && !team->ended_ns) /* as the review just before has found */
		teams_note_others(teams, team, clock_now_ns());
	return team ? send_table(peer, team) : say_none(peer);
}

static int answer_forget(struct peer *peer, const struct teams_wish *wish)
{
	return teams_forget(peer->server->teams, wish) ? peer_done(peer) : say_none(peer);
}

/* The end of a connection may not have been noticed yet. Root asks about tables of others, too. */
static int answer_last(struct peer *peer, const struct wire_team *request, uint32_t uid)
{
	if (uid == peer->uid)
		deaths_look(peer);
	else
		deaths_look_at_all(peer->server);
	return deaths_answer(
		peer, team_list_find(peer->server->teams, uid, request->name, request->run));
}

int team_requests_answer(struct peer *peer, const union wire_message *request)
{
	const struct wire_team *team = &request->team;
	const struct teams_wish wish = {
		.uid = team_requests_uid_of(peer, team),
		.account = owners_account_of(&peer->server->owners, peer->uid),
		.name = team->name,
		.layout = team->layout,
		.run = team->run,
		.bytes = team->bytes,
	};

	if (wish.uid != peer->uid && peer->uid)
		return peer_refuse(peer, POLICY_ROOT,
			"Only root may look at tables of another user, or have them forgotten.");
	if (request->header.opcode == WIRE_LAST)
		return answer_last(peer, team, wish.uid);
	if (team->wish == TEAM_JOIN) /* many ranks join at once: looks at no more than it must */
		return answer_join(peer, &wish);
	teams_review_uid(peer->server->teams, wish.uid, clock_now_ns());
	return team->wish == TEAM_LOOK ? answer_look(peer, team, wish.uid)
				       : answer_forget(peer, &wish);
}

/* --- tables whose time is over --- */

static int team_requests_on_time(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct server *server = userdata;
	uint64_t due_ns = teams_review(server->teams, clock_now_ns());

	(void)usec;
	deaths_look_at_all(server);
	server_take_cost(server); /* charged to nobody */
	if (server->teams->n)
		loop_wake_at(source, due_ns);
	return 0;
}

int team_requests_watch(struct server *server)
{
	int r = loop_timer_new(server->event, &server->teams_source, team_requests_on_time, server);

	if (r >= 0)
		loop_wake_at(server->teams_source, 0);
	return r;
}
