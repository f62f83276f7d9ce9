/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/server.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/clock.h"
#include "common/macro.h"
#include "daemon/base/log.h"

static const uint64_t MINUTE_NS = 60000000000U;

enum { DEBT_PARTS = 1000 }; /* of the burst: the debt of all that all wait for at most */

static_assert((uint32_t)LEDGER_NO_OWNER == (uint32_t)POLICY_NO_OWNER, "nobody");
static_assert((unsigned)REPORT_STATE == WIRE_STATE && (unsigned)REPORT_PLATFORMS == WIRE_PLATFORMS,
	"topics");

int server_init(struct server *server, struct config *config, struct listener *listener,
	struct fdstore *store, struct fault *fault)
{
	int r;

	*server = (struct server){
		.config = config,
		.listener = listener,
		.owners = OWNERS_INIT,
		.reports = { SHARED_REPORT_INIT, SHARED_REPORT_INIT, SHARED_REPORT_INIT },
	};
	owners_read(&server->owners);
	r = team_list_new(store, &server->teams);
	return r < 0 ? fault_set(fault, r, "No memory or descriptor: %s.", strerror(-r)) : 0;
}

/* --- accounts and the main thread's time --- */

/* Doorbells of the account exist, or are being closed, which may hang. */
static bool is_held(const void *holder, unsigned number)
{
	const struct server *server = holder;

	return closers_hold(server->closers, number) || users_have_account(&server->users, number);
}

/* Drops everything that is known of the account that had @number before, which pays for its last
 * closes. */
static void forget_account(struct server *server, unsigned number)
{
	closers_settle(server->closers, &server->budget);
	closers_forget(server->closers, number);
	budget_forget(&server->budget, number);
	for (unsigned s = 0; s < server->counters->n_readers; s++)
		doorbells_forget_account(&server->counters->readers[s].doorbells, number);
}

unsigned server_account_of(struct server *server, uint32_t uid)
{
	uint64_t id = owners_account_of(&server->owners, uid);
	bool is_new;
	unsigned number = accounts_find(&server->accounts, id, &is_new);

	if (is_new)
		forget_account(server, number);
	return number;
}

uint64_t server_take_cost(struct server *server)
{
	uint64_t before_ns = server->charged_ns;

	server->charged_ns = clock_thread_ns();
	return server->charged_ns - before_ns;
}

void server_resume_accepting(struct server *server)
{
	if (server->listen_source)
		sd_event_source_set_enabled(server->listen_source, SD_EVENT_ON);
}

/* --- clients in the page --- */

void server_tell_clients(struct server *server)
{
	shared_page_tell_clients(&server->counters->generation.shared_page, server->n_peers,
		server->n_refused_before + server->n_refused);
}

void server_count_peer(struct server *server, int change)
{
	server->n_peers += change;
	server_tell_clients(server);
}

void server_count_refusal(struct server *server, uid_t uid, const struct policy_refusal *refusal)
{
	unsigned account = server_account_of(server, uid);
	uint64_t n_silent;

	if (account != ACCOUNTS_NONE)
		server->accounts.refusals[account][refusal->rule]++;
	server->n_refused++;
	server->n_refused_by_rule[refusal->rule]++;
	if (log_limits_permit(&server->refusals, MINUTE_NS, uid, clock_now_ns(), &n_silent))
		log_warning("Refused user %u (%s; %" PRIu64 " more since the last such line): %s",
			uid, policy_rule_name(refusal->rule), n_silent, refusal->text);
	server_tell_clients(server);
}

int server_refuse(struct server *server, int fd, uid_t uid, const struct policy_refusal *refusal)
{
	union wire_message reply;

	server_count_refusal(server, uid, refusal);
	wire_error(&reply, refusal->error, "%s", refusal->text);
	return wire_send(fd, &reply, NULL, 0);
}

uint32_t server_owner(const struct server *server)
{
	return ledger_current(&server->counters->generation.ledger).owner;
}

/* If the socket's file cannot be found, the rules say that nobody may connect. */
void server_tell_users(struct server *server)
{
	struct rules rules;

	policy_rules(&server->config->access, server_owner(server), &rules);
	listener_socket(server->listener, &rules.socket);
	users_tell(&server->users, server->config->disclosure.quantum, &rules);
}

/* --- limits --- */

/* The number of tables of teams that the limit of open files has room for: an eighth of the
 * limit. */
static unsigned tables_that_fit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 1;
	return limit.rlim_cur / 8 < TEAMS_MAX ? (unsigned)(limit.rlim_cur / 8) : TEAMS_MAX;
}

/*
 * The number of peers that the limit of open files has room for, besides the files that are open
 * already and the tables of teams. Each peer has a connection. It may also be the only one of its
 * user, and each user has doorbells and a memory file.
 */
static unsigned peers_that_fit(const struct counters *counters, unsigned n_tables)
{
	struct rlimit limit;
	unsigned long reserved = 48 + n_tables;

	for (unsigned i = 0; i < counters->plan.n_boxes; i++)
		reserved += counters->plan.boxes[i].n_events;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur <= reserved)
		return 1;
	return (unsigned)((limit.rlim_cur - reserved) / (2 + counters->n_readers));
}

/* Users without clients keep descriptors, too. They get at most a quarter of the room. */
static unsigned limit_away(struct users *users, unsigned n_fit)
{
	users->most_away = n_fit / 4 < USERS_AWAY_MAX ? n_fit / 4 : USERS_AWAY_MAX;
	return n_fit - users->most_away;
}

/* If the site sets no limit, there is a place for every rank of a job with four ranks per CPU. */
static void take_limits(struct server *server)
{
	unsigned of_machine = 4 * server->counters->topology.n_cpus;

	server->max_peers_of_user = server->config->max_clients_per_user;
	if (!server->max_peers_of_user)
		server->max_peers_of_user = of_machine > 512 ? of_machine : 512;
	server->max_peers = server->config->max_clients;
	if (!server->max_peers)
		server->max_peers = 4 * server->max_peers_of_user;
	if (server->max_peers > USERS_MAX)
		server->max_peers = USERS_MAX;
}

void server_limit_peers(struct server *server)
{
	unsigned n_tables = tables_that_fit();
	unsigned fit = limit_away(&server->users, peers_that_fit(server->counters, n_tables));

	team_list_limit(server->teams, n_tables);
	take_limits(server);
	if (fit >= server->max_peers)
		return;
	log_warning("The limit of open files leaves room for %u clients, not for the %u of "
		    "max_clients: raise LimitNOFILE of the unit.",
		fit, server->max_peers);
	server->max_peers = fit;
	/* With so few places, give one user at most half. */
	if (server->max_peers_of_user > (fit + 1) / 2)
		server->max_peers_of_user = (fit + 1) / 2;
}

void server_apply_budget(struct server *server)
{
	server->budget.rules = (struct budget_rules){
		.percent = server->config->budget_percent,
		.burst_ms = server->config->burst_ms,
	};
	/* The cost of a request is known only after it is answered, so this bounds the debt from
	 * costly ones, for which all wait. */
	server->budget.least_ns =
		-(int64_t)(server->config->burst_ms * CLOCK_NS_PER_MS / DEBT_PARTS);
}

int server_begin(struct server *server, struct counters *counters)
{
	const struct budget_rules rules = {};
	int r = closers_new(&server->closers);

	server->counters = counters;
	server->n_refused_before = counters->generation.shared_page.header->daemon.refused;
	if (r >= 0)
		r = accounts_init(&server->accounts);
	server->accounts.is_held = is_held;
	server->accounts.holder = server;
	if (r >= 0)
		r = budget_init(&server->budget, &rules, ACCOUNTS_MAX);
	if (r >= 0)
		r = users_init(
			&server->users, counters->readers, counters->n_readers, server->closers);
	if (r < 0)
		return r;
	server_tell_users(server);
	server_apply_budget(server);
	server_limit_peers(server);
	server_take_cost(server); /* leaves out the cost of the start */
	return 0;
}

void server_done(struct server *server)
{
	assert(!server->peers);
	users_done(&server->users);
	for (unsigned i = 0; i < TEAMS_MAX; i++)
		free(server->deaths[i]); /* without users the readers have lost them */
	closers_free(server->closers);
	budget_done(&server->budget);
	accounts_done(&server->accounts);
	owners_done(&server->owners);
	team_list_free(server->teams);
	sd_event_source_unref(server->teams_source);
	sd_event_source_unref(server->wake_source);
	sd_event_source_unref(server->listen_source);
	sd_event_unref(server->event);
	for (unsigned i = 0; i < ARRAY_SIZE(server->reports); i++)
		shared_report_close(&server->reports[i]);
}
