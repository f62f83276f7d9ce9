/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/clients.h"

#include <stdlib.h>

#include "common/clock.h"
#include "common/macro.h"
#include "daemon/admit/credentials.h"
#include "daemon/base/json.h"
#include "daemon/serve/peer.h"

/* What all readers did for an account. */
static struct budget_use use_of_readers(const struct counters *counters, unsigned account)
{
	struct budget_use sum = {};

	for (unsigned s = 0; s < counters->n_readers; s++) {
		struct budget_use use = reader_use(&counters->readers[s], account);

		sum.charged_ns += use.charged_ns;
		sum.n_answered += use.n_answered;
		sum.n_put_off += use.n_put_off;
		sum.debt_ns += use.debt_ns;
	}
	return sum;
}

static struct json_object *reads_json(const struct budget_use *use)
{
	struct json_object *object = json_object_new_object();

	json_add_number(object, "sweeps", use->n_answered);
	json_add_number(object, "throttled", use->n_put_off);
	json_add_number(object, "cpu_ns", use->charged_ns);
	json_add_number(object, "debt_ns", use->debt_ns);
	return object;
}

static struct json_object *requests_json(const struct budget_use *use)
{
	struct json_object *object = json_object_new_object();

	json_add_number(object, "cpu_ns", use->charged_ns);
	json_add_number(object, "debt_ns", use->debt_ns);
	json_add_number(object, "parked", 0);
	return object;
}

/* Only the rules by which the account was refused. */
static struct json_object *refusals_json(const uint64_t refusals[POLICY_RULES])
{
	struct json_object *by_rule = json_object_new_object();

	for (unsigned rule = 0; rule < POLICY_RULES; rule++)
		if (refusals[rule])
			json_add_number(by_rule, policy_rule_name(rule), refusals[rule]);
	return by_rule;
}

static struct json_object *tables_json(uint64_t n, uint64_t used_bytes)
{
	struct json_object *object = json_object_new_object();

	json_add_number(object, "kept", n);
	json_add_number(object, "used_bytes", used_bytes);
	return object;
}

/* An account without a known owner stands for a block of uids: owners.h. */
static void add_uids(struct json_object *user, uint64_t id)
{
	if (id <= UINT32_MAX) {
		json_add_number(user, "uid", id);
		return;
	}
	json_add_number(user, "first_uid", (id & UINT32_MAX) << 16);
	json_add_number(user, "last_uid", (id & UINT32_MAX) << 16 | UINT16_MAX);
}

static struct json_object *user_json(struct server *server, unsigned number, uint64_t now_ns)
{
	const struct account *account = &server->accounts.accounts[number];
	struct budget_use reads = use_of_readers(server->counters, number);
	struct budget_use requests = budget_use(&server->budget, number, now_ns);
	struct json_object *user = json_object_new_object();

	add_uids(user, server->accounts.ids[number]);
	json_add_number(user, "clients", account->n_peers);
	if (!account->n_peers && account->left_ns)
		json_add_number(user, "left_ns", now_ns - account->left_ns);
	json_add(user, "reads", reads_json(&reads));
	json_add(user, "requests", requests_json(&requests));
	json_add(user, "tables", tables_json(0, 0));
	json_add(user, "refusals", refusals_json(server->accounts.refusals[number]));
	json_add(user, "processes", json_object_new_array());
	return user;
}

static struct json_object *process_json(const struct peer *peer, uint64_t now_ns)
{
	struct json_object *process = json_object_new_object();
	pid_t pid = credentials_pid(peer->fd);

	if (pid)
		json_add_number(process, "pid", (uint64_t)pid);
	json_add_number(process, "uid", peer->uid);
	json_add_number(process, "connected_ns", now_ns - peer->since_ns);
	json_add_number(process, "requests", peer->n_requests);
	json_add_bool(process, "greeted", peer->user != NULL);
	json_add_bool(process, "parked", peer->parked_ns != 0);
	return process;
}

/* Tables outlive uncored, so their users may not have asked this process for anything yet. */
static void make_accounts_of_tables(struct server *server)
{
	for (unsigned i = 0; i < server->teams->n; i++)
		server_account_of(server, server->teams->table[i].uid);
}

static uint64_t number_of(struct json_object *object, const char *key)
{
	return json_object_get_uint64(json_object_object_get(object, key));
}

static void add_tables(struct json_object *users, struct server *server)
{
	for (unsigned i = 0; i < server->teams->n; i++) {
		const struct team *team = &server->teams->table[i];
		unsigned number = server_account_of(server, team->uid);
		struct json_object *user, *tables;

		if (number == ACCOUNTS_NONE)
			continue;
		user = json_object_array_get_idx(users, number);
		tables = json_object_object_get(user, "tables");
		json_add(user, "tables",
			tables_json(number_of(tables, "kept") + 1,
				number_of(tables, "used_bytes") + team->used_bytes));
	}
}

static void count_parked(struct json_object *requests)
{
	json_add_number(requests, "parked", number_of(requests, "parked") + 1);
}

static void add_processes(struct json_object *users, const struct server *server, uint64_t now_ns)
{
	for (const struct peer *peer = server->peers; peer; peer = peer->next) {
		struct json_object *user = json_object_array_get_idx(users, peer->account);

		if (peer->parked_ns)
			count_parked(json_object_object_get(user, "requests"));
		json_object_array_add(
			json_object_object_get(user, "processes"), process_json(peer, now_ns));
	}
}

char *clients_json(struct server *server)
{
	_cleanup_json_ struct json_object *root = json_object_new_object();
	struct json_object *users = json_object_new_array();
	uint64_t now_ns = clock_now_ns();

	json_add_string(root, "version", UNCORED_VERSION);
	json_add_number(root, "uptime_ns",
		now_ns - server->counters->generation.publication.header->daemon.started_ns);
	json_add_number(root, "budget_percent", server->config->budget_percent);
	json_add(root, "users", users);
	make_accounts_of_tables(server);
	for (unsigned number = 0; number < server->accounts.n; number++)
		json_object_array_add(users, user_json(server, number, now_ns));
	add_tables(users, server);
	add_processes(users, server, now_ns);
	return json_text(root);
}
