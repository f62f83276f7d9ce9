/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/job-owner.h"

#include "common/wire.h"

int job_owner_withdraw(struct server *server, uint32_t owner, const struct peer *but)
{
	int r = counters_replace_page(server->counters, owner);

	if (r < 0)
		return r;
	for (struct peer *peer = server->peers, *next; peer; peer = next) {
		next = peer->next;
		if (peer != but)
			peer_free(peer);
	}
	users_drop_away(&server->users);
	server_tell_users(server);
	shared_report_close(&server->reports[REPORT_STATE]);
	server_tell_clients(server);
	return 0;
}

int job_owner_set(struct server *server, uint32_t owner, const struct peer *but)
{
	struct ledger *ledger = &server->counters->generation.ledger;
	struct ledger_current current = ledger_current(ledger);

	if (owner == current.owner)
		return 0;
	if (server->config->access.owner_only)
		return job_owner_withdraw(server, owner, but);
	current.owner = owner;
	ledger_set_current(ledger, current);
	server_tell_users(server);
	shared_report_invalidate(&server->reports[REPORT_STATE]);
	return 0;
}
