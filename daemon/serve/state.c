/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/macro.h"
#include "daemon/base/json.h"
#include "daemon/count/agreement.h"
#include "daemon/plan/plan-report.h"
#include "daemon/plan/platform-report.h"

static struct json_object *quality_json(uint32_t quality)
{
	struct json_object *words = json_object_new_array();

	for (size_t i = 0; i < PAGE_QUALITY_WORDS; i++)
		if (quality & page_quality_words[i].flag)
			json_object_array_add(
				words, json_object_new_string(page_quality_words[i].word));
	return words;
}

static void add_reader_state(struct json_object *object, struct reader *reader)
{
	struct reader_state state = reader_state(reader);

	json_add_number(object, "sweeps", state.sweeps);
	json_add_number(object, "last_sweep_ns", state.last_sweep_ns);
	json_add_number(object, "cpu_ns", state.cpu_ns);
	json_add_number(object, "clients", state.n_clients);
	json_add_number(object, "throttled", state.throttled);
	json_add_bool(object, "realtime", state.realtime);
}

static void add_box_states(
	struct json_object *socket, const struct counters *counters, unsigned first)
{
	struct json_object *boxes = json_object_object_get(socket, "boxes");

	for (size_t i = 0; i < json_object_array_length(boxes); i++) {
		struct json_object *object = json_object_array_get_idx(boxes, i);
		const struct box *box = &counters->generation.boxes[first + i];

		json_add_string(object, "mode", box_mode_name(box->mode));
		if (box->mode == BOX_CLOSED)
			json_add_string(object, "error", strerror(-box->error));
	}
}

/* The CPU on which the socket is read; the reader may have followed the counters. */
static int cpu_of(const struct counters *counters, unsigned socket)
{
	const struct page_socket *sockets = page_sockets(counters->generation.publication.header);

	return __atomic_load_n(&sockets[socket].cpu, __ATOMIC_RELAXED);
}

static struct json_object *sockets_state(const struct counters *counters)
{
	struct json_object *sockets = json_object_new_array();

	for (unsigned s = 0; s < counters->plan.n_sockets; s++) {
		struct json_object *object = plan_report_socket(&counters->plan, s);

		json_add_number(object, "package", counters->plan.sockets[s].package);
		json_add(object, "cpu", json_object_new_int(cpu_of(counters, s)));
		add_reader_state(object, &counters->readers[s]);
		add_box_states(object, counters, counters->plan.sockets[s].first_box);
		json_object_array_add(sockets, object);
	}
	return sockets;
}

static void add_agreement(struct json_object *entry, const struct counters *counters,
	unsigned socket, unsigned metric)
{
	const struct plan *plan = &counters->plan;
	unsigned substituted_by = plan->sockets[socket].substituted_by[metric];
	uint32_t quantum = reader_state(&counters->readers[socket]).quantum;
	double ratio;

	if (substituted_by)
		json_add_string(
			entry, "taken_from", plan->platform->metrics[substituted_by - 1].name);
	else if (agreement_find(&counters->generation, socket, metric, quantum, &ratio))
		json_add(entry, "check_ratio", json_object_new_double(ratio));
}

static struct json_object *metric_state(const struct counters *counters, unsigned metric)
{
	const struct plan *plan = &counters->plan;
	const struct platform_metric *m = &plan->platform->metrics[metric];
	struct json_object *object = json_object_new_object();
	struct json_object *sockets = json_object_new_array();

	json_add_string(object, "name", m->name);
	json_add_string(object, "unit", m->unit);
	if (m->source[0])
		json_add_string(object, "source", m->source);
	if (m->confidence[0])
		json_add_string(object, "confidence", m->confidence);
	if (m->measured[0])
		json_add_string(object, "measured", m->measured);
	if (m->calibrated)
		json_add_bool(object, "calibrated", true);
	json_add(object, "terms", platform_report_terms(m));
	for (unsigned s = 0; s < plan->n_sockets; s++) {
		struct json_object *entry = json_object_new_object();

		json_add_number(entry, "socket", s);
		json_add(entry, "quality", quality_json(plan->sockets[s].quality[metric]));
		if (plan->sockets[s].why[metric][0])
			json_add_string(entry, "why", plan->sockets[s].why[metric]);
		add_agreement(entry, counters, s, metric);
		json_object_array_add(sockets, entry);
	}
	json_add(object, "sockets", sockets);
	return object;
}

/* Access and disclosure, key by key and in words. */
static void add_disclosure(struct json_object *policy, const struct server *server)
{
	const struct policy_disclosure *disclosure = &server->config->disclosure;
	const struct policy_access *access = &server->config->access;
	char mode_text[16] = "unknown", words[POLICY_WORDS_MAX];
	struct rules_socket socket = {};
	bool others;

	if (listener_socket(server->listener, &socket))
		snprintf(mode_text, sizeof mode_text, "%04o", socket.mode);
	others = socket.mode & S_IWOTH;
	policy_describe(access, server_owner(server), disclosure, others, words);
	json_add_string(policy, "words", words);
	json_add_bool(policy, "restricted", policy_restricts(access, disclosure, others));
	json_add_string(policy, "mode", mode_text);
	json_add_string(policy, "group", access->group_text);
	json_add_string(policy, "users", access->users_text);
	json_add_bool(policy, "owner_only", access->owner_only);
	if (server_owner(server) != POLICY_NO_OWNER)
		json_add_number(policy, "owner", server_owner(server));
	json_add_number(policy, "min_interval_ms", disclosure->min_interval_ms);
	json_add_number(policy, "min_interval_per_user_ms", disclosure->min_interval_per_user_ms);
	json_add_number(policy, "quantum", disclosure->quantum);
}

static struct json_object *policy_state(const struct server *server)
{
	const struct config *config = server->config;
	struct json_object *policy = json_object_new_object();

	add_disclosure(policy, server);
	json_add_string(policy, "socket",
		server->listener->owns_path ? config->socket_path : "passed by systemd");
	json_add_number(policy, "max_clients", server->max_peers);
	json_add_number(policy, "max_clients_per_user", server->max_peers_of_user);
	json_add_number(policy, "requests_per_second", config->requests_per_second);
	json_add_number(policy, "budget_percent", config->budget_percent);
	json_add_number(policy, "burst_ms", config->burst_ms);
	return policy;
}

static struct json_object *refusals_state(const struct refusals *refusals)
{
	struct json_object *by_rule = json_object_new_object();

	for (unsigned rule = 0; rule < POLICY_RULES; rule++)
		json_add_number(by_rule, policy_rule_name(rule), refusals->n_by_rule[rule]);
	return by_rule;
}

static struct json_object *teams_state(struct team_list *teams)
{
	struct json_object *object = json_object_new_object();

	json_add_number(object, "kept", teams->n);
	json_add_number(object, "alive", teams_count_alive(teams, clock_now_ns()));
	return object;
}

static void add_generation(struct json_object *root, const struct page_header *header)
{
	char text[40];

	snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, header->generation[0],
		header->generation[1]);
	json_add_string(root, "generation", text);
}

char *state_json(const struct server *server)
{
	_cleanup_json_ struct json_object *root = json_object_new_object();
	const struct counters *counters = server->counters;
	struct json_object *metrics = json_object_new_array();
	struct json_object *warnings = json_object_new_array();

	json_add_string(root, "version", UNCORED_VERSION);
	json_add_string(root, "platform", counters->platform->name);
	json_add_string(root, "title", counters->platform->title);
	json_add_bool(root, "standin", counters->platform->standin);
	add_generation(root, counters->generation.publication.header);
	json_add_number(root, "uptime_ns",
		clock_now_ns() - counters->generation.publication.header->daemon.started_ns);
	json_add_bool(root, "kept", counters->is_kept);
	json_add_bool(root, "resumed", counters->generation.resumed);
	json_add(root, "sockets", sockets_state(counters));
	for (unsigned m = 0; m < counters->platform->n_metrics; m++)
		json_object_array_add(metrics, metric_state(counters, m));
	json_add(root, "metrics", metrics);
	json_add(root, "missing", plan_report_missing(&counters->plan));
	json_add(root, "policy", policy_state(server));
	if (server->config->refused.text[0])
		json_add_string(root, "refused_configuration", server->config->refused.text);
	json_add_number(root, "clients", server->n_peers);
	json_add_number(root, "max_clients", server->max_peers);
	json_add_number(root, "refused", server->refusals.n);
	json_add(root, "refusals", refusals_state(&server->refusals));
	json_add(root, "teams", teams_state(server->teams));
	for (unsigned i = 0; i < counters->n_warnings; i++)
		json_object_array_add(warnings, json_object_new_string(counters->warnings[i].text));
	json_add(root, "warnings", warnings);
	return json_text(root);
}
