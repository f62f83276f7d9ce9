/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/deaths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macro.h"
#include "daemon/base/memfd.h"

/* Stays for the next table at its place. */
struct death {
	uint64_t made_ns; /* of the table */
	uint64_t alive_ns, noticed_ns;
	unsigned n_sockets;
	struct kept_sweep kept[]; /* the readers' until they are there or lost */
};

static bool deaths_is_of(const struct death *death, const struct team *team)
{
	return death && death->made_ns == team->made_ns;
}

static bool deaths_is_any(const struct death *death, unsigned first_state, unsigned last_state)
{
	bool found = false;

	for (unsigned s = 0; s < death->n_sockets; s++) {
		unsigned state = __atomic_load_n(&death->kept[s].state, __ATOMIC_ACQUIRE);

		found |= first_state <= state && state <= last_state;
	}
	return found;
}

static bool is_pending(const struct death *death)
{
	return deaths_is_any(death, KEPT_ASKED, KEPT_CLAIMED);
}

/* --- noticing --- */

/* NULL: there is no memory, or the readers still have the one that is there. */
static struct death *death_of(struct server *server, const struct team *team)
{
	const unsigned n = server->counters->n_readers;
	struct death *death = server->deaths[team->place];

	if (!death) {
		death = calloc(1, sizeof *death + n * sizeof death->kept[0]);
		server->deaths[team->place] = death;
	}
	if (!death || is_pending(death))
		return NULL;
	death->n_sockets = n;
	return death;
}

/* The user's doorbells stay for a while after its last client has gone (users.h). */
static void deaths_begin(struct server *server, const struct team *team, uint64_t now_ns)
{
	const unsigned account = server_account_of(server, team->uid);
	struct death *death = death_of(server, team);
	struct user *user;

	if (!death || account == ACCOUNTS_NONE ||
		users_enter(&server->users, team->uid, account, &user) < 0)
		return;
	death->made_ns = team->made_ns;
	death->alive_ns = team->alive_ns;
	death->noticed_ns = now_ns;
	for (unsigned s = 0; s < death->n_sockets; s++) {
		death->kept[s].place = user->place;
		doorbells_keep(&server->counters->readers[s].doorbells, &death->kept[s]);
	}
	users_leave(&server->users, user);
}

static void deaths_look_at(struct server *server, struct team *team)
{
	const uint64_t now_ns = clock_now_ns();

	if (!deaths_is_of(server->deaths[team->place], team) && !team_is_reported(team) &&
		!team_is_alive(team, now_ns) && team->alive_ns)
		deaths_begin(server, team, now_ns);
}

void deaths_note_living(const struct peer *peer)
{
	struct team_list *teams = peer->server->teams;

	for (unsigned i = 0; i < teams->n; i++)
		if (teams->table[i].uid == peer->uid && !teams->table[i].alive_ns)
			team_is_alive(&teams->table[i], clock_now_ns());
}

void deaths_look(const struct peer *peer)
{
	struct team_list *teams = peer->server->teams;

	for (unsigned i = 0; i < teams->n && !peer->only_collects; i++)
		if (teams->table[i].uid == peer->uid)
			deaths_look_at(peer->server, &teams->table[i]);
}

void deaths_look_at_all(struct server *server)
{
	struct team_list *teams = server->teams;

	for (unsigned i = 0; i < teams->n && !policy_is_selective(&server->config->access); i++)
		deaths_look_at(server, &teams->table[i]);
}

/* --- answering --- */

/* Returns a descriptor that the caller owns. */
static int deaths_write_sweeps(const struct death *death)
{
	const size_t each_bytes = sizeof death->kept[0].sweep;
	_cleanup_close_ int fd = memfd_new("uncored-last", death->n_sockets * each_bytes, 0400);

	for (unsigned s = 0; fd >= 0 && s < death->n_sockets; s++)
		if (pwrite(fd, &death->kept[s].sweep, each_bytes, (off_t)(s * each_bytes)) < 0)
			return -errno;
	return fd < 0 ? fd : take_fd(&fd);
}

static int send_reading(struct peer *peer, const struct death *death)
{
	const struct counters *counters = peer->server->counters;
	_cleanup_close_ int fd = deaths_write_sweeps(death);
	union wire_message reply;

	if (fd < 0)
		return peer_refuse(peer, POLICY_DESCRIPTORS,
			"uncored has no memory or descriptor for a reading: try again later.");
	wire_begin(&reply, WIRE_READING);
	reply.reading.n_sockets = death->n_sockets;
	reply.reading.alive_ns = death->alive_ns;
	reply.reading.noticed_ns = death->noticed_ns;
	memcpy(reply.reading.generation, counters->generation.shared_page.header->generation,
		sizeof reply.reading.generation);
	return peer_send(peer, &reply, &fd, 1);
}

int deaths_answer(struct peer *peer, const struct team *team)
{
	const struct death *death = team ? peer->server->deaths[team->place] : NULL;
	union wire_message reply;

	if (!death || !deaths_is_of(death, team) || deaths_is_any(death, KEPT_LOST, KEPT_LOST))
		wire_error(&reply, -ENOENT, "uncored has not read for such a table.");
	else if (is_pending(death))
		wire_error(&reply, -EAGAIN, "uncored is about to read for this table.");
	else
		return send_reading(peer, death);
	return peer_send(peer, &reply, NULL, 0);
}
