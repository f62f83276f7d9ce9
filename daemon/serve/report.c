/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/report.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <string.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/macro.h"

static void put_json(struct json_object **object)
{
	json_object_put(*object);
}

#define _cleanup_json_ _cleanup_(put_json)

static void add(struct json_object *to, const char *key, struct json_object *value)
{
	json_object_object_add(to, key, value);
}

static void add_string(struct json_object *to, const char *key, const char *value)
{
	add(to, key, json_object_new_string(value));
}

static void add_number(struct json_object *to, const char *key, uint64_t value)
{
	add(to, key, json_object_new_uint64(value));
}

static struct json_object *hex(uint64_t value)
{
	char text[24];

	snprintf(text, sizeof text, "0x%" PRIx64, value);
	return json_object_new_string(text);
}

static struct json_object *quality_json(uint32_t quality)
{
	struct json_object *words = json_object_new_array();

	for (size_t i = 0; i < PAGE_QUALITY_WORDS; i++)
		if (quality & page_quality_words[i].flag)
			json_object_array_add(
				words, json_object_new_string(page_quality_words[i].word));
	return words;
}

/* --- the plan --- */

static struct json_object *event_json(
	const struct plan *plan, const struct plan_box *box, const struct plan_use *use)
{
	const struct event_code *code = &box->events[use->event].code;
	struct json_object *event = json_object_new_object();

	add_string(event, "metric", plan->platform->metrics[use->metric].name);
	add(event, "config", hex(code->config));
	add(event, "config1", hex(code->config1));
	if (code->config2)
		add(event, "config2", hex(code->config2));
	add_number(event, "bytes", use->bytes);
	if (use->subtract)
		add(event, "subtract", json_object_new_boolean(true));
	add_string(event, "via", code->via);
	if (code->tried[0])
		add_string(event, "tried", code->tried);
	return event;
}

static struct json_object *box_json(const struct plan *plan, const struct plan_box *box)
{
	struct json_object *object = json_object_new_object();
	struct json_object *events = json_object_new_array();

	add_string(object, "pmu", box->pmu);
	add_number(object, "type", box->type);
	add_number(object, "cpu", (uint64_t)box->cpu);
	for (unsigned i = 0; i < box->n_uses; i++)
		json_object_array_add(events, event_json(plan, box, &box->uses[i]));
	add(object, "events", events);
	return object;
}

static struct json_object *socket_json(const struct plan *plan, unsigned socket)
{
	const struct plan_socket *s = &plan->sockets[socket];
	struct json_object *object = json_object_new_object();
	struct json_object *boxes = json_object_new_array();

	add_number(object, "socket", socket);
	for (unsigned i = s->first_box; i < s->first_box + s->n_boxes; i++)
		json_object_array_add(boxes, box_json(plan, &plan->boxes[i]));
	add(object, "boxes", boxes);
	return object;
}

static bool absent_everywhere(const struct plan *plan, unsigned metric)
{
	for (unsigned s = 0; s < plan->n_sockets; s++)
		if (!(plan->sockets[s].quality[metric] & PAGE_ABSENT))
			return false;
	return true;
}

/* One entry where a metric is absent for the whole machine, else one for each socket without it. */
static void add_absent(struct json_object *absent, const struct plan *plan, unsigned metric)
{
	bool everywhere = absent_everywhere(plan, metric);

	for (unsigned s = 0; s < plan->n_sockets; s++) {
		struct json_object *entry;

		if (!(plan->sockets[s].quality[metric] & PAGE_ABSENT))
			continue;
		entry = json_object_new_object();
		add_string(entry, "metric", plan->platform->metrics[metric].name);
		if (!everywhere)
			add_number(entry, "socket", s);
		add_string(entry, "why", plan->sockets[s].why[metric]);
		json_object_array_add(absent, entry);
		if (everywhere)
			return;
	}
}

static struct json_object *missing_json(const struct plan *plan)
{
	struct json_object *list = json_object_new_array();

	for (unsigned i = 0; i < plan->n_missing; i++) {
		const struct plan_missing *missing = &plan->missing[i];
		struct json_object *entry = json_object_new_object();

		add_string(entry, "pmu", missing->pmu);
		if (missing->metric >= 0)
			add_string(entry, "metric", plan->platform->metrics[missing->metric].name);
		add_string(entry, "why", missing->why);
		json_object_array_add(list, entry);
	}
	return list;
}

void report_plan_json(const struct plan *plan, FILE *out)
{
	_cleanup_json_ struct json_object *root = json_object_new_object();
	struct json_object *sockets = json_object_new_array();
	struct json_object *absent = json_object_new_array();

	add_string(root, "platform", plan->platform->name);
	for (unsigned s = 0; s < plan->n_sockets; s++)
		json_object_array_add(sockets, socket_json(plan, s));
	add(root, "sockets", sockets);
	for (unsigned m = 0; m < plan->platform->n_metrics; m++)
		add_absent(absent, plan, m);
	add(root, "absent", absent);
	add(root, "missing", missing_json(plan));
	fprintf(out, "%s\n", json_object_to_json_string_ext(root, JSON_C_TO_STRING_NOSLASHESCAPE));
}

static void print_box(const struct plan *plan, const struct plan_box *box, FILE *out)
{
	fprintf(out, "  %s (type %u) on CPU %d:", box->pmu, box->type, box->cpu);
	for (unsigned i = 0; i < box->n_uses; i++) {
		const struct plan_use *use = &box->uses[i];

		fprintf(out, "%s %s%s 0x%" PRIx64 " x %u", i ? "," : "", use->subtract ? "-" : "",
			plan->platform->metrics[use->metric].name,
			box->events[use->event].code.config, use->bytes);
	}
	fputc('\n', out);
}

static void print_why(
	const struct plan *plan, const struct plan_socket *socket, unsigned metric, FILE *out)
{
	const char *name = plan->platform->metrics[metric].name;
	unsigned substituted_by = socket->substituted_by[metric];

	if (substituted_by)
		fprintf(out, "  %s is counted by %s in its place: %s\n", name,
			plan->platform->metrics[substituted_by - 1].name, socket->why[metric]);
	else
		fprintf(out, "  %s is %s: %s\n", name,
			socket->quality[metric] & PAGE_ABSENT ? "absent" : "partial",
			socket->why[metric]);
}

void report_plan_text(const struct plan *plan, FILE *out)
{
	fprintf(out, "Platform %s: %s (%s)\n", plan->platform->name, plan->platform->title,
		plan->platform->path);
	if (plan->platform->standin)
		fprintf(out,
			"This is the stand-in machine: nothing it counts is memory traffic.\n");
	for (unsigned s = 0; s < plan->n_sockets; s++) {
		const struct plan_socket *socket = &plan->sockets[s];

		fprintf(out, "Socket %u (package %u), %u boxes:\n", s, socket->package,
			socket->n_boxes);
		for (unsigned i = 0; i < socket->n_boxes; i++)
			print_box(plan, &plan->boxes[socket->first_box + i], out);
		for (unsigned m = 0; m < plan->platform->n_metrics; m++)
			if (socket->why[m][0])
				print_why(plan, socket, m, out);
	}
	for (unsigned i = 0; i < plan->n_missing; i++)
		fprintf(out, "Not usable: %s: %s\n", plan->missing[i].pmu, plan->missing[i].why);
}

/* --- the running daemon --- */

static void add_reader_state(struct json_object *object, struct reader *reader)
{
	struct reader_state state = reader_state(reader);

	add_number(object, "sweeps", state.sweeps);
	add_number(object, "last_sweep_ns", state.last_sweep_ns);
	add_number(object, "cpu_ns", state.cpu_ns);
	add_number(object, "clients", state.n_clients);
	add_number(object, "throttled", state.throttled);
	add(object, "realtime", json_object_new_boolean(state.realtime));
}

static void add_box_states(
	struct json_object *socket, const struct counters *counters, unsigned first)
{
	struct json_object *boxes = json_object_object_get(socket, "boxes");

	for (size_t i = 0; i < json_object_array_length(boxes); i++) {
		struct json_object *object = json_object_array_get_idx(boxes, i);
		const struct box *box = &counters->generation.boxes[first + i];

		add_string(object, "mode", box_mode_name(box->mode));
		if (box->mode == BOX_CLOSED)
			add_string(object, "error", strerror(-box->error));
	}
}

/* Where the socket is read; its reader may have followed the counters. */
static int cpu_of(const struct counters *counters, unsigned socket)
{
	const struct page_socket *sockets = page_sockets(counters->generation.publication.header);

	return __atomic_load_n(&sockets[socket].cpu, __ATOMIC_RELAXED);
}

static struct json_object *sockets_state(const struct counters *counters)
{
	struct json_object *sockets = json_object_new_array();

	for (unsigned s = 0; s < counters->plan.n_sockets; s++) {
		struct json_object *object = socket_json(&counters->plan, s);

		add_number(object, "package", counters->plan.sockets[s].package);
		add(object, "cpu", json_object_new_int(cpu_of(counters, s)));
		add_reader_state(object, &counters->readers[s]);
		add_box_states(object, counters, counters->plan.sockets[s].first_box);
		json_object_array_add(sockets, object);
	}
	return sockets;
}

static void add_choices(
	struct json_object *to, const char *key, const struct event_choices *choices)
{
	static const char *const kinds[] = {
		[EVENT_SYSFS] = "sysfs:", [EVENT_RAW] = "raw:", [EVENT_PFM] = "pfm:"
	};
	char text[PLATFORM_CHOICES_MAX * (sizeof choices->choice[0].text + 8)] = "";
	size_t length = 0;

	for (unsigned i = 0; i < choices->n; i++)
		length += snprintf(text + length, sizeof text - length, "%s%s%s", i ? " | " : "",
			kinds[choices->choice[i].kind], choices->choice[i].text);
	if (choices->n)
		add_string(to, key, text);
}

/* How a metric is computed: what the platform file says. */
static struct json_object *terms_json(const struct platform_metric *metric)
{
	struct json_object *terms = json_object_new_array();

	for (unsigned t = 0; t < metric->n_terms; t++) {
		const struct platform_term *term = &metric->terms[t];
		struct json_object *object = json_object_new_object();

		add_string(object, "pmu", term->pmu);
		add_choices(object, "event", &term->event);
		add_number(object, "bytes", term->bytes);
		if (term->subtract)
			add(object, "subtract", json_object_new_boolean(true));
		if (term->optional[0])
			add_string(object, "optional", term->optional);
		add_choices(object, "clock", &term->clock);
		json_object_array_add(terms, object);
	}
	return terms;
}

/* --- agreement of a metric with its check --- */

/* A part of a set, or a time without counting, makes a difference of its own. */
static const uint32_t INCOMPARABLE = PAGE_ABSENT | PAGE_PARTIAL | PAGE_ESTIMATED | PAGE_FROZEN;

/* What a metric's counters cannot tell apart: each box may be one count behind. */
static uint64_t coarseness(const struct plan *plan, unsigned socket, unsigned metric)
{
	const struct plan_socket *s = &plan->sockets[socket];
	uint64_t bytes = 0;

	for (unsigned i = s->first_box; i < s->first_box + s->n_boxes; i++)
		for (unsigned k = 0; k < plan->boxes[i].n_uses; k++)
			if (plan->boxes[i].uses[k].metric == metric)
				bytes += plan->boxes[i].uses[k].bytes;
	return bytes;
}

/*
 * Value / check on @socket since the generation began. False: nothing can be said, for one of them
 * is not whole, or none has counted much yet. One that stands at 0 while the other counts is the
 * worst.
 */
static bool compare(const struct counters *counters, unsigned socket, unsigned metric,
	unsigned check, double *ret_ratio)
{
	const struct page_header *page = counters->generation.publication.header;
	uint64_t enough = 64 << 20;
	struct page_sweep sweep;
	const struct page_value *value = &sweep.values[metric], *other = &sweep.values[check];

	if (page_copy(page_cell(page, socket), &sweep, page->n_metrics, NULL, 0) < 0)
		return false;
	enough += 64 * (coarseness(&counters->plan, socket, metric) +
			       coarseness(&counters->plan, socket, check) +
			       reader_state(&counters->readers[socket]).quantum);
	if ((value->quality | other->quality) & INCOMPARABLE ||
		(value->count < enough && other->count < enough))
		return false;
	*ret_ratio = other->count ? (double)value->count / (double)other->count : 1e9;
	return true;
}

static void add_check(struct json_object *entry, const struct counters *counters, unsigned socket,
	unsigned metric)
{
	const struct plan *plan = &counters->plan;
	unsigned substituted_by = plan->sockets[socket].substituted_by[metric];
	int check = platform_check_of(plan->platform, metric);
	double ratio;

	if (substituted_by)
		add_string(entry, "taken_from", plan->platform->metrics[substituted_by - 1].name);
	else if (check >= 0 && compare(counters, socket, metric, (unsigned)check, &ratio))
		add(entry, "check_ratio", json_object_new_double(ratio));
}

static struct json_object *metric_state(const struct counters *counters, unsigned metric)
{
	const struct plan *plan = &counters->plan;
	const struct platform_metric *m = &plan->platform->metrics[metric];
	struct json_object *object = json_object_new_object();
	struct json_object *sockets = json_object_new_array();

	add_string(object, "name", m->name);
	add_string(object, "unit", m->unit);
	if (m->source[0])
		add_string(object, "source", m->source);
	if (m->confidence[0])
		add_string(object, "confidence", m->confidence);
	if (m->measured[0])
		add_string(object, "measured", m->measured);
	if (m->calibrated)
		add(object, "calibrated", json_object_new_boolean(true));
	add(object, "terms", terms_json(m));
	for (unsigned s = 0; s < plan->n_sockets; s++) {
		struct json_object *entry = json_object_new_object();

		add_number(entry, "socket", s);
		add(entry, "quality", quality_json(plan->sockets[s].quality[metric]));
		if (plan->sockets[s].why[metric][0])
			add_string(entry, "why", plan->sockets[s].why[metric]);
		add_check(entry, counters, s, metric);
		json_object_array_add(sockets, entry);
	}
	add(object, "sockets", sockets);
	return object;
}

/* Who may connect, and what they are told; in words, too. */
static void add_disclosure(struct json_object *policy, const struct server *server)
{
	const struct policy_disclosure *disclosure = &server->config->disclosure;
	const struct policy_access *access = &server->config->access;
	char mode_text[16] = "unknown", words[POLICY_WORDS_MAX];
	struct rules_socket socket = {};
	bool others;

	if (server_socket(server, &socket))
		snprintf(mode_text, sizeof mode_text, "%04o", socket.mode);
	others = socket.mode & S_IWOTH;
	policy_describe(access, server_owner(server), disclosure, others, words);
	add_string(policy, "words", words);
	add(policy, "restricted",
		json_object_new_boolean(policy_restricts(access, disclosure, others)));
	add_string(policy, "mode", mode_text);
	add_string(policy, "group", access->group_text);
	add_string(policy, "users", access->users_text);
	add(policy, "owner_only", json_object_new_boolean(access->owner_only));
	if (server_owner(server) != POLICY_NO_OWNER)
		add_number(policy, "owner", server_owner(server));
	add_number(policy, "min_interval_ms", disclosure->min_interval_ms);
	add_number(policy, "min_interval_per_user_ms", disclosure->min_interval_per_user_ms);
	add_number(policy, "quantum", disclosure->quantum);
}

static struct json_object *policy_state(const struct server *server)
{
	const struct config *config = server->config;
	struct json_object *policy = json_object_new_object();

	add_disclosure(policy, server);
	add_string(policy, "socket", server->owns_path ? config->socket_path : "passed by systemd");
	add_number(policy, "max_clients", server->max_peers);
	add_number(policy, "max_clients_per_user", server->max_peers_of_user);
	add_number(policy, "requests_per_second", config->requests_per_second);
	add_number(policy, "budget_percent", config->budget_percent);
	add_number(policy, "burst_ms", config->burst_ms);
	return policy;
}

static struct json_object *refusals_state(const struct refusals *refusals)
{
	struct json_object *by_rule = json_object_new_object();

	for (unsigned rule = 0; rule < POLICY_RULES; rule++)
		add_number(by_rule, policy_rule_name(rule), refusals->n_by_rule[rule]);
	return by_rule;
}

static void add_generation(struct json_object *root, const struct page_header *header)
{
	char text[40];

	snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, header->generation[0],
		header->generation[1]);
	add_string(root, "generation", text);
}

char *report_state(const struct server *server)
{
	_cleanup_json_ struct json_object *root = json_object_new_object();
	const struct counters *counters = server->counters;
	struct json_object *metrics = json_object_new_array();
	struct json_object *warnings = json_object_new_array();
	const char *text;

	add_string(root, "version", UNCORED_VERSION);
	add_string(root, "platform", counters->platform->name);
	add_string(root, "title", counters->platform->title);
	add(root, "standin", json_object_new_boolean(counters->platform->standin));
	add_generation(root, counters->generation.publication.header);
	add_number(root, "uptime_ns",
		clock_now_ns() - counters->generation.publication.header->daemon.started_ns);
	add(root, "kept", json_object_new_boolean(counters->is_kept));
	add(root, "resumed", json_object_new_boolean(counters->generation.resumed));
	add(root, "sockets", sockets_state(counters));
	for (unsigned m = 0; m < counters->platform->n_metrics; m++)
		json_object_array_add(metrics, metric_state(counters, m));
	add(root, "metrics", metrics);
	add(root, "missing", missing_json(&counters->plan));
	add(root, "policy", policy_state(server));
	add_number(root, "clients", server->n_peers);
	add_number(root, "max_clients", server->max_peers);
	add_number(root, "refused", server->refusals.n);
	add(root, "refusals", refusals_state(&server->refusals));
	for (unsigned i = 0; i < counters->n_warnings; i++)
		json_object_array_add(warnings, json_object_new_string(counters->warnings[i].text));
	add(root, "warnings", warnings);
	text = json_object_to_json_string_ext(root, JSON_C_TO_STRING_NOSLASHESCAPE);
	return text ? strdup(text) : NULL;
}

/* --- all platforms --- */

static struct json_object *platform_metric_json(const struct platform_metric *metric)
{
	struct json_object *object = json_object_new_object();

	add_string(object, "name", metric->name);
	if (metric->absent[0]) {
		add_string(object, "absent", metric->absent);
		return object;
	}
	add_string(object, "confidence", metric->confidence);
	add_string(object, "source", metric->source);
	if (metric->measured[0])
		add_string(object, "measured", metric->measured);
	if (metric->partial[0])
		add_string(object, "partial", metric->partial);
	if (metric->uncalibrated)
		add(object, "uncalibrated", json_object_new_boolean(true));
	return object;
}

static int add_platform(const struct platform *platform, void *list)
{
	struct json_object *object = json_object_new_object();
	struct json_object *metrics = json_object_new_array();

	add_string(object, "name", platform->name);
	add_string(object, "title", platform->title);
	add_string(object, "path", platform->path);
	if (platform->unsupported[0])
		add_string(object, "unsupported", platform->unsupported);
	for (unsigned m = 0; m < platform->n_metrics; m++)
		json_object_array_add(metrics, platform_metric_json(&platform->metrics[m]));
	add(object, "metrics", metrics);
	json_object_array_add(list, object);
	return 0;
}

char *report_platforms(const char *const directories[], struct fault *fault)
{
	_cleanup_json_ struct json_object *list = json_object_new_array();
	const char *text;

	fault->text[0] = '\0';
	if (platform_visit(directories, add_platform, list, fault) < 0)
		return NULL;
	text = json_object_to_json_string_ext(list, JSON_C_TO_STRING_NOSLASHESCAPE);
	return text ? strdup(text) : NULL;
}
