/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/reports.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/jsonwriter.h"
#include "common/macro.h"
#include "common/text.h"
#include "daemon/base/notify.h"
#include "daemon/count/tally.h"
#include "daemon/plan/plan-report.h"
#include "daemon/serve/loop.h"

static void write_reader(struct jsonwriter *json, struct reader *reader, unsigned n_clients)
{
	struct reader_state state = reader_state(reader);

	jsonwriter_number(json, "sweeps", state.sweeps);
	jsonwriter_number(json, "last_sweep_ns", state.last_sweep_ns);
	jsonwriter_object(json, "method");
	jsonwriter_text(json, "name", snapshot_is_used(&reader->sweep.snapshot) ? "bpf" : "read");
	jsonwriter_text_if_any(json, "why", reader->why_read.text);
	jsonwriter_number(json, "by_program", state.n_by_program);
	jsonwriter_number(json, "longest_call_ns", state.longest_call_ns);
	jsonwriter_close(json);
	jsonwriter_number(json, "cpu_ns", state.cpu_ns);
	jsonwriter_number(json, "clients", n_clients);
	jsonwriter_number(json, "throttled", state.throttled);
	jsonwriter_flag(json, "realtime", state.realtime);
}

static void write_box(struct jsonwriter *json, const struct counters *counters, unsigned number)
{
	const struct box *box = &counters->generation.boxes[number];

	jsonwriter_object(json, NULL);
	plan_report_box(json, &counters->plan, number);
	jsonwriter_text(json, "mode", box_mode_name(box->mode));
	if (box->mode == BOX_CLOSED)
		jsonwriter_text(json, "error", strerror(-box->error));
	jsonwriter_close(json);
}

/* The CPU on which the socket is read. The reader may have followed the counters to another CPU. */
static int cpu_of(const struct counters *counters, unsigned socket)
{
	const struct page_socket *sockets = page_sockets(counters->generation.shared_page.header);

	return __atomic_load_n(&sockets[socket].cpu, __ATOMIC_RELAXED);
}

static void state_write_socket(
	struct jsonwriter *json, const struct server *server, unsigned number)
{
	const struct counters *counters = server->counters;
	const struct plan_socket *socket = &counters->plan.sockets[number];

	jsonwriter_object(json, NULL);
	jsonwriter_number(json, "socket", number);
	jsonwriter_array(json, "boxes");
	for (unsigned i = 0; i < socket->n_boxes; i++)
		write_box(json, counters, socket->first_box + i);
	jsonwriter_close(json);
	jsonwriter_number(json, "package", socket->package);
	jsonwriter_signed(json, "cpu", cpu_of(counters, number));
	write_reader(json, &counters->readers[number], server->users.n_clients);
	jsonwriter_close(json);
}

static void write_agreement(
	struct jsonwriter *json, const struct counters *counters, unsigned socket, unsigned metric)
{
	const struct plan *plan = &counters->plan;
	unsigned substituted_by = plan->sockets[socket].substituted_by[metric];
	const struct tally_quanta quanta = reader_state(&counters->readers[socket]).quanta;
	uint32_t quantum = tally_quantum(plan, metric, &quanta);
	double ratio;

	if (substituted_by)
		jsonwriter_text(
			json, "taken_from", plan->platform->metrics[substituted_by - 1].name);
	else if (agreement_find(&counters->generation, socket, metric, quantum, &ratio))
		jsonwriter_real(json, "check_ratio", ratio);
}

static void write_metric_of_socket(
	struct jsonwriter *json, const struct counters *counters, unsigned socket, unsigned metric)
{
	const struct plan_socket *planned = &counters->plan.sockets[socket];
	const struct tally_quanta quanta = reader_state(&counters->readers[socket]).quanta;
	bool hidden = tally_hides(&counters->plan, metric, &quanta);

	jsonwriter_object(json, NULL);
	jsonwriter_number(json, "socket", socket);
	plan_report_quality(json, planned->quality[metric] | (hidden ? PAGE_ABSENT : 0));
	if (hidden)
		jsonwriter_text(json, "why", tally_texts[TALLY_TEXT_QUANTUM]);
	else if (planned->why[metric][0])
		jsonwriter_text(json, "why", planned->why[metric]);
	write_agreement(json, counters, socket, metric);
	jsonwriter_close(json);
}

static void state_write_metric(
	struct jsonwriter *json, const struct counters *counters, unsigned metric)
{
	const struct plan *plan = &counters->plan;
	const struct platform_metric *m = &plan->platform->metrics[metric];

	jsonwriter_object(json, NULL);
	jsonwriter_text(json, "name", m->name);
	jsonwriter_text(json, "unit", m->unit);
	jsonwriter_text_if_any(json, "source", m->source);
	jsonwriter_text_if_any(json, "confidence", m->confidence);
	jsonwriter_text_if_any(json, "measured", m->measured);
	jsonwriter_text_if_any(json, "partial", m->partial);
	if (m->calibrated)
		jsonwriter_flag(json, "calibrated", true);
	platform_report_terms(json, m);
	jsonwriter_array(json, "sockets");
	for (unsigned s = 0; s < plan->n_sockets; s++)
		write_metric_of_socket(json, counters, s, metric);
	jsonwriter_close(json);
	jsonwriter_close(json);
}

/* Do the rules restrict anybody? */
static bool describe_policy(const struct server *server, char ret_text[POLICY_WORDS_MAX])
{
	const struct config *config = server->config;
	struct rules_socket socket = {};
	bool others;

	listener_socket(server->listener, &socket);
	others = socket.mode & S_IWOTH;
	policy_describe(
		&config->access, server_owner(server), &config->disclosure, others, ret_text);
	return policy_restricts(&config->access, &config->disclosure, others);
}

/* Access and disclosure, key by key and in words. */
static void write_disclosure(struct jsonwriter *json, const struct server *server)
{
	const struct policy_disclosure *disclosure = &server->config->disclosure;
	const struct policy_access *access = &server->config->access;
	char mode_text[16] = "unknown", words[POLICY_WORDS_MAX];
	bool restricted = describe_policy(server, words);
	struct rules_socket socket = {};

	if (listener_socket(server->listener, &socket))
		snprintf(mode_text, sizeof mode_text, "%04o", socket.mode);
	jsonwriter_text(json, "words", words);
	jsonwriter_flag(json, "restricted", restricted);
	jsonwriter_text(json, "mode", mode_text);
	jsonwriter_text(json, "group", access->group_text);
	jsonwriter_text(json, "users", access->users_text);
	jsonwriter_flag(json, "owner_only", access->owner_only);
	if (server_owner(server) != POLICY_NO_OWNER)
		jsonwriter_number(json, "owner", server_owner(server));
	jsonwriter_number(json, "min_interval_ms", disclosure->min_interval_ms);
	jsonwriter_number(json, "min_interval_per_user_ms", disclosure->min_interval_per_user_ms);
	jsonwriter_number(json, "quantum", disclosure->quantum);
	jsonwriter_number(json, "quantum_energy", disclosure->quantum_energy);
}

static void state_write_policy(struct jsonwriter *json, const struct server *server)
{
	const struct config *config = server->config;

	jsonwriter_object(json, "policy");
	write_disclosure(json, server);
	jsonwriter_text(json, "socket",
		server->listener->owns_path ? config->socket_path : "passed by systemd");
	jsonwriter_number(json, "max_clients", server->max_peers);
	jsonwriter_number(json, "max_clients_per_user", server->max_peers_of_user);
	jsonwriter_number(json, "requests_per_second", config->requests_per_second);
	jsonwriter_number(json, "budget_percent", config->budget_percent);
	jsonwriter_number(json, "burst_ms", config->burst_ms);
	jsonwriter_close(json);
}

static void state_write_refusals(struct jsonwriter *json, const uint64_t n_by_rule[POLICY_RULES])
{
	jsonwriter_object(json, "refusals");
	for (unsigned rule = 0; rule < POLICY_RULES; rule++)
		jsonwriter_number(json, policy_rule_name(rule), n_by_rule[rule]);
	jsonwriter_close(json);
}

static void write_teams(struct jsonwriter *json, struct team_list *teams)
{
	jsonwriter_object(json, "teams");
	jsonwriter_number(json, "kept", teams->n);
	jsonwriter_number(json, "alive", teams_count_alive(teams, clock_now_ns()));
	jsonwriter_close(json);
}

static void write_generation(struct jsonwriter *json, const struct page_header *header)
{
	char text[40];

	snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, header->generation[0],
		header->generation[1]);
	jsonwriter_text(json, "generation", text);
}

static void write_warnings(struct jsonwriter *json, const struct counters *counters)
{
	jsonwriter_array(json, "warnings");
	for (unsigned i = 0; i < counters->n_warnings; i++)
		jsonwriter_text(json, NULL, counters->warnings[i].text);
	jsonwriter_close(json);
}

static void write_counters(struct jsonwriter *json, const struct server *server)
{
	const struct counters *counters = server->counters;
	const struct page_header *header = counters->generation.shared_page.header;

	jsonwriter_text(json, "platform", counters->platform->name);
	jsonwriter_text(json, "title", counters->platform->title);
	jsonwriter_flag(json, "standin", counters->platform->standin);
	jsonwriter_text_if_any(json, "nodes", counters->platform->nodes);
	write_generation(json, header);
	jsonwriter_number(json, "uptime_ns", clock_now_ns() - header->daemon.started_ns);
	jsonwriter_flag(json, "kept", counters->is_kept);
	jsonwriter_flag(json, "resumed", counters->generation.resumed);
	jsonwriter_array(json, "sockets");
	for (unsigned s = 0; s < counters->plan.n_sockets; s++)
		state_write_socket(json, server, s);
	jsonwriter_close(json);
	jsonwriter_array(json, "metrics");
	for (unsigned m = 0; m < counters->platform->n_metrics; m++)
		state_write_metric(json, counters, m);
	jsonwriter_close(json);
	plan_report_missing(json, &counters->plan);
}

char *state_json(const struct server *server)
{
	_cleanup_(jsonwriter_done) struct jsonwriter json;
	char *text = NULL;

	jsonwriter_init(&json, false);
	jsonwriter_object(&json, NULL);
	jsonwriter_text(&json, "version", UNCORED_VERSION);
	write_counters(&json, server);
	state_write_policy(&json, server);
	if (server->config->refused.text[0])
		jsonwriter_text(&json, "refused_configuration", server->config->refused.text);
	jsonwriter_number(&json, "clients", server->n_peers);
	jsonwriter_number(&json, "max_clients", server->max_peers);
	jsonwriter_number(&json, "refused", server->n_refused);
	state_write_refusals(&json, server->n_refused_by_rule);
	write_teams(&json, server->teams);
	write_warnings(&json, server->counters);
	jsonwriter_close(&json);
	jsonwriter_finish(&json, &text);
	return text;
}

/* --- for `systemctl status` --- */

static void list_metrics(const struct plan *plan, char *ret_text, size_t size)
{
	*ret_text = '\0';
	for (unsigned m = 0; m < plan->platform->n_metrics; m++)
		if (plan_serves(plan, m))
			text_append(ret_text, size, "%s%s", *ret_text ? ", " : "",
				plan->platform->metrics[m].name);
}

void state_tell(const struct server *server)
{
	const struct counters *counters = server->counters;
	const char *refused = server->config->refused.text;
	char metrics[PAGE_METRICS_MAX * PAGE_NAME_MAX], policy[POLICY_WORDS_MAX];

	list_metrics(&counters->plan, metrics, sizeof metrics);
	describe_policy(server, policy);
	if (!notify_ready("%s%sServing %s, %u socket%s: %s. %s", refused,
		    *refused ? " So the configuration as it was before holds. " : "",
		    counters->platform->name, counters->plan.n_sockets,
		    counters->plan.n_sockets == 1 ? "" : "s", metrics, policy))
		loop_notify_again(server->event);
}
