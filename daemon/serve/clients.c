/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/reports.h"

#include <errno.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/jsonwriter.h"
#include "common/macro.h"
#include "daemon/admit/credentials.h"
#include "daemon/serve/peer.h"

/* What all readers did for an account. */
static struct budget_use use_of_readers(const struct counters *counters, unsigned account)
{
	struct budget_use sum = {};

	for (unsigned s = 0; s < counters->n_readers; s++) {
		struct budget_use use = doorbells_use(&counters->readers[s].doorbells, account);

		sum.charged_ns += use.charged_ns;
		sum.n_answered += use.n_answered;
		sum.n_put_off += use.n_put_off;
		sum.debt_ns += use.debt_ns;
	}
	return sum;
}

/* --- the tables and connections of each account --- */

struct belongings {
	uint64_t n_tables, tables_bytes, n_parked;
	unsigned first_peer, n_peers; /* in gathered.peers */
};

/* Both are by account, so that the lists of teams and peers are walked once, not once per
 * account. */
struct gathered {
	uint64_t now_ns;
	struct belongings *of;     /* owned, by number of the account */
	const struct peer **peers; /* owned */
};

static void gathered_done(struct gathered *gathered)
{
	free(gathered->of);
	free(gathered->peers);
}

/* Tables outlive the process, so their users may not have an account in this process yet. */
static void make_accounts_of_tables(struct server *server)
{
	for (unsigned i = 0; i < server->teams->n; i++)
		server_account_of(server, server->teams->table[i].uid);
}

static void gather_tables(struct gathered *gathered, struct server *server)
{
	for (unsigned i = 0; i < server->teams->n; i++) {
		const struct team *team = &server->teams->table[i];
		unsigned number = server_account_of(server, team->uid);

		if (number == ACCOUNTS_NONE)
			continue;
		gathered->of[number].n_tables++;
		gathered->of[number].tables_bytes += team->used_bytes;
	}
}

static void gather_peers(struct gathered *gathered, const struct server *server)
{
	unsigned first = 0;

	for (unsigned number = 0; number < server->accounts.n; number++) {
		gathered->of[number].first_peer = first;
		first += server->accounts.accounts[number].n_peers;
	}
	for (const struct peer *peer = server->peers; peer; peer = peer->next) {
		struct belongings *of = &gathered->of[peer->account];

		gathered->peers[of->first_peer + of->n_peers++] = peer;
		of->n_parked += peer->parked_ns != 0;
	}
}

static int clients_gather(struct gathered *ret, struct server *server)
{
	make_accounts_of_tables(server);
	*ret = (struct gathered){
		.now_ns = clock_now_ns(),
		.of = calloc(server->accounts.n + 1, sizeof *ret->of),
		.peers = calloc(server->n_peers + 1, sizeof *ret->peers),
	};
	if (!ret->of || !ret->peers)
		return -ENOMEM;
	gather_tables(ret, server);
	gather_peers(ret, server);
	return 0;
}

/* --- the document --- */

static void write_reads(struct jsonwriter *json, const struct budget_use *use)
{
	jsonwriter_object(json, "reads");
	jsonwriter_number(json, "sweeps", use->n_answered);
	jsonwriter_number(json, "throttled", use->n_put_off);
	jsonwriter_number(json, "cpu_ns", use->charged_ns);
	jsonwriter_number(json, "debt_ns", use->debt_ns);
	jsonwriter_close(json);
}

static void write_requests(
	struct jsonwriter *json, const struct budget_use *use, const struct belongings *of)
{
	jsonwriter_object(json, "requests");
	jsonwriter_number(json, "cpu_ns", use->charged_ns);
	jsonwriter_number(json, "debt_ns", use->debt_ns);
	jsonwriter_number(json, "parked", of->n_parked);
	jsonwriter_close(json);
}

static void clients_write_tables(struct jsonwriter *json, const struct belongings *of)
{
	jsonwriter_object(json, "tables");
	jsonwriter_number(json, "kept", of->n_tables);
	jsonwriter_number(json, "used_bytes", of->tables_bytes);
	jsonwriter_close(json);
}

/* Writes only the rules that have refused the account. */
static void clients_write_refusals(struct jsonwriter *json, const uint64_t refusals[POLICY_RULES])
{
	jsonwriter_object(json, "refusals");
	for (unsigned rule = 0; rule < POLICY_RULES; rule++)
		if (refusals[rule])
			jsonwriter_number(json, policy_rule_name(rule), refusals[rule]);
	jsonwriter_close(json);
}

/* An account without an owner stands for a block of uids: owners.h. */
static void write_uids(struct jsonwriter *json, uint64_t id)
{
	if (id <= UINT32_MAX) {
		jsonwriter_number(json, "uid", id);
		return;
	}
	jsonwriter_number(json, "first_uid", (id & UINT32_MAX) << 16);
	jsonwriter_number(json, "last_uid", (id & UINT32_MAX) << 16 | UINT16_MAX);
}

static void clients_write_process(struct jsonwriter *json, const struct peer *peer, uint64_t now_ns)
{
	pid_t pid = credentials_pid(peer->fd);

	jsonwriter_object(json, NULL);
	if (pid)
		jsonwriter_number(json, "pid", (uint64_t)pid);
	jsonwriter_number(json, "uid", peer->uid);
	jsonwriter_number(json, "connected_ns", now_ns - peer->since_ns);
	jsonwriter_number(json, "requests", peer->n_requests);
	jsonwriter_flag(json, "greeted", peer->user != NULL);
	jsonwriter_flag(json, "parked", peer->parked_ns != 0);
	jsonwriter_close(json);
}

static void clients_write_processes(
	struct jsonwriter *json, const struct gathered *gathered, const struct belongings *of)
{
	jsonwriter_array(json, "processes");
	for (unsigned i = 0; i < of->n_peers; i++)
		clients_write_process(json, gathered->peers[of->first_peer + i], gathered->now_ns);
	jsonwriter_close(json);
}

static void write_user(struct jsonwriter *json, const struct gathered *gathered,
	struct server *server, unsigned number)
{
	const struct account *account = &server->accounts.accounts[number];
	const struct belongings *of = &gathered->of[number];
	struct budget_use reads = use_of_readers(server->counters, number);
	struct budget_use requests = budget_use(&server->budget, number, gathered->now_ns);

	jsonwriter_object(json, NULL);
	write_uids(json, server->accounts.ids[number]);
	jsonwriter_number(json, "clients", account->n_peers);
	if (!account->n_peers && account->left_ns)
		jsonwriter_number(json, "left_ns", gathered->now_ns - account->left_ns);
	write_reads(json, &reads);
	write_requests(json, &requests, of);
	clients_write_tables(json, of);
	clients_write_refusals(json, server->accounts.refusals[number]);
	clients_write_processes(json, gathered, of);
	jsonwriter_close(json);
}

char *clients_json(struct server *server)
{
	const struct page_header *header = server->counters->generation.shared_page.header;
	_cleanup_(jsonwriter_done) struct jsonwriter json = { .out = NULL };
	_cleanup_(gathered_done) struct gathered gathered;
	char *text = NULL;

	if (clients_gather(&gathered, server) < 0)
		return NULL;
	jsonwriter_init(&json, false);
	jsonwriter_object(&json, NULL);
	jsonwriter_text(&json, "version", UNCORED_VERSION);
	jsonwriter_number(&json, "uptime_ns", gathered.now_ns - header->daemon.started_ns);
	jsonwriter_number(&json, "budget_percent", server->config->budget_percent);
	jsonwriter_array(&json, "users");
	for (unsigned number = 0; number < server->accounts.n; number++)
		write_user(&json, &gathered, server, number);
	jsonwriter_close(&json);
	jsonwriter_close(&json);
	jsonwriter_finish(&json, &text);
	return text;
}
