/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/plan/plan-report.h"

#include <inttypes.h>

#include "common/macro.h"
#include "daemon/base/json.h"

static struct json_object *hex(uint64_t value)
{
	char text[24];

	snprintf(text, sizeof text, "0x%" PRIx64, value);
	return json_object_new_string(text);
}

static struct json_object *event_json(
	const struct plan *plan, const struct plan_box *box, const struct plan_use *use)
{
	const struct event_code *code = &box->events[use->event].code;
	struct json_object *event = json_object_new_object();

	json_add_string(event, "metric", plan->platform->metrics[use->metric].name);
	json_add(event, "config", hex(code->config));
	json_add(event, "config1", hex(code->config1));
	if (code->config2)
		json_add(event, "config2", hex(code->config2));
	json_add_number(event, "bytes", use->bytes);
	if (use->subtract)
		json_add_bool(event, "subtract", true);
	json_add_string(event, "via", code->via);
	if (code->tried[0])
		json_add_string(event, "tried", code->tried);
	return event;
}

static struct json_object *box_json(const struct plan *plan, const struct plan_box *box)
{
	struct json_object *object = json_object_new_object();
	struct json_object *events = json_object_new_array();

	json_add_string(object, "pmu", box->pmu);
	json_add_number(object, "type", box->type);
	json_add_number(object, "cpu", (uint64_t)box->cpu);
	for (unsigned i = 0; i < box->n_uses; i++)
		json_object_array_add(events, event_json(plan, box, &box->uses[i]));
	json_add(object, "events", events);
	return object;
}

struct json_object *plan_report_socket(const struct plan *plan, unsigned socket)
{
	const struct plan_socket *s = &plan->sockets[socket];
	struct json_object *object = json_object_new_object();
	struct json_object *boxes = json_object_new_array();

	json_add_number(object, "socket", socket);
	for (unsigned i = s->first_box; i < s->first_box + s->n_boxes; i++)
		json_object_array_add(boxes, box_json(plan, &plan->boxes[i]));
	json_add(object, "boxes", boxes);
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
		json_add_string(entry, "metric", plan->platform->metrics[metric].name);
		if (!everywhere)
			json_add_number(entry, "socket", s);
		json_add_string(entry, "why", plan->sockets[s].why[metric]);
		json_object_array_add(absent, entry);
		if (everywhere)
			return;
	}
}

struct json_object *plan_report_missing(const struct plan *plan)
{
	struct json_object *list = json_object_new_array();

	for (unsigned i = 0; i < plan->n_missing; i++) {
		const struct plan_missing *missing = &plan->missing[i];
		struct json_object *entry = json_object_new_object();

		json_add_string(entry, "pmu", missing->pmu);
		if (missing->metric >= 0)
			json_add_string(
				entry, "metric", plan->platform->metrics[missing->metric].name);
		json_add_string(entry, "why", missing->why);
		json_object_array_add(list, entry);
	}
	return list;
}

void plan_report_json(const struct plan *plan, FILE *out)
{
	_cleanup_json_ struct json_object *root = json_object_new_object();
	struct json_object *sockets = json_object_new_array();
	struct json_object *absent = json_object_new_array();

	json_add_string(root, "platform", plan->platform->name);
	for (unsigned s = 0; s < plan->n_sockets; s++)
		json_object_array_add(sockets, plan_report_socket(plan, s));
	json_add(root, "sockets", sockets);
	for (unsigned m = 0; m < plan->platform->n_metrics; m++)
		add_absent(absent, plan, m);
	json_add(root, "absent", absent);
	json_add(root, "missing", plan_report_missing(plan));
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

void plan_report_text(const struct plan *plan, FILE *out)
{
	fprintf(out, "Platform %s: %s (%s)\n", plan->platform->name, plan->platform->title,
		plan->platform->path);
	if (plan->platform->standin)
		fprintf(out, "This is a stand-in: nothing it counts is memory traffic of this "
			     "machine.\n");
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
