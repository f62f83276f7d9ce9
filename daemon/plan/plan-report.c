/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/plan/plan-report.h"

#include <inttypes.h>

#include "common/macro.h"

static void plan_report_write_hex(struct jsonwriter *json, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof text, "0x%" PRIx64, value);
	jsonwriter_text(json, key, text);
}

static void plan_report_write_event(struct jsonwriter *json, const struct plan *plan,
	const struct plan_box *box, const struct plan_use *use)
{
	const struct event_code *code = &box->events[use->event].code;

	jsonwriter_object(json, NULL);
	jsonwriter_text(json, "metric", plan->platform->metrics[use->metric].name);
	plan_report_write_hex(json, "config", code->config);
	plan_report_write_hex(json, "config1", code->config1);
	if (code->config2)
		plan_report_write_hex(json, "config2", code->config2);
	platform_report_worth(json, use->scale);
	if (use->subtract)
		jsonwriter_flag(json, "subtract", true);
	if (code->is_disputed)
		jsonwriter_flag(json, "disputed", true);
	jsonwriter_text(json, "via", code->via);
	jsonwriter_text_if_any(json, "tried", code->tried);
	jsonwriter_close(json);
}

void plan_report_box(struct jsonwriter *json, const struct plan *plan, unsigned number)
{
	const struct plan_box *box = &plan->boxes[number];

	jsonwriter_text(json, "pmu", box->pmu);
	jsonwriter_number(json, "type", box->type);
	jsonwriter_number(json, "cpu", (uint64_t)box->cpu);
	if (box->is_extra)
		jsonwriter_flag(json, "extra", true);
	jsonwriter_array(json, "events");
	for (unsigned i = 0; i < box->n_uses; i++)
		plan_report_write_event(json, plan, box, &box->uses[i]);
	jsonwriter_close(json);
}

static void plan_report_write_socket(
	struct jsonwriter *json, const struct plan *plan, unsigned socket)
{
	const struct plan_socket *s = &plan->sockets[socket];

	jsonwriter_object(json, NULL);
	jsonwriter_number(json, "socket", socket);
	jsonwriter_number(json, "package", s->package);
	jsonwriter_array(json, "boxes");
	for (unsigned i = s->first_box; i < s->first_box + s->n_boxes; i++) {
		jsonwriter_object(json, NULL);
		plan_report_box(json, plan, i);
		jsonwriter_close(json);
	}
	jsonwriter_close(json);
	jsonwriter_close(json);
}

void plan_report_quality(struct jsonwriter *json, uint32_t quality)
{
	jsonwriter_array(json, "quality");
	for (size_t i = 0; i < PAGE_QUALITY_WORDS; i++)
		if (quality & page_quality_words[i].flag)
			jsonwriter_text(json, NULL, page_quality_words[i].word);
	jsonwriter_close(json);
}

/* One entry for each socket that has the metric. */
static void write_served(struct jsonwriter *json, const struct plan *plan, unsigned metric)
{
	for (unsigned s = 0; s < plan->n_sockets; s++) {
		const struct plan_socket *socket = &plan->sockets[s];

		if (socket->quality[metric] & PAGE_ABSENT)
			continue;
		jsonwriter_object(json, NULL);
		jsonwriter_text(json, "metric", plan->platform->metrics[metric].name);
		jsonwriter_number(json, "socket", s);
		plan_report_quality(json, socket->quality[metric]);
		jsonwriter_text_if_any(json, "why", socket->why[metric]);
		if (socket->substituted_by[metric])
			jsonwriter_text(json, "taken_from",
				plan->platform->metrics[socket->substituted_by[metric] - 1].name);
		jsonwriter_number(json, "boxes", socket->found[metric].n);
		jsonwriter_number(json, "expected", socket->found[metric].n_expected);
		jsonwriter_close(json);
	}
}

/* One entry if the metric is absent on all sockets, else one for each socket without it. */
static void write_absent(struct jsonwriter *json, const struct plan *plan, unsigned metric)
{
	bool everywhere = !plan_serves(plan, metric);

	for (unsigned s = 0; s < plan->n_sockets; s++) {
		if (!(plan->sockets[s].quality[metric] & PAGE_ABSENT))
			continue;
		jsonwriter_object(json, NULL);
		jsonwriter_text(json, "metric", plan->platform->metrics[metric].name);
		if (!everywhere)
			jsonwriter_number(json, "socket", s);
		jsonwriter_text(json, "why", plan->sockets[s].why[metric]);
		jsonwriter_close(json);
		if (everywhere)
			return;
	}
}

void plan_report_missing(struct jsonwriter *json, const struct plan *plan)
{
	jsonwriter_array(json, "missing");
	for (unsigned i = 0; i < plan->n_missing; i++) {
		const struct plan_missing *missing = &plan->missing[i];

		jsonwriter_object(json, NULL);
		jsonwriter_text(json, "pmu", missing->pmu);
		if (missing->metric >= 0)
			jsonwriter_text(
				json, "metric", plan->platform->metrics[missing->metric].name);
		jsonwriter_text(json, "why", missing->why);
		jsonwriter_close(json);
	}
	jsonwriter_close(json);
}

static void write_what_it_is(struct jsonwriter *json, const struct platform *platform)
{
	jsonwriter_text(json, "platform", platform->name);
	jsonwriter_text(json, "title", platform->title);
	jsonwriter_text(json, "path", platform->path);
	if (platform->standin)
		jsonwriter_flag(json, "standin", true);
	if (*platform->asleep)
		jsonwriter_text(json, "not_enabled", platform->asleep + 1);
}

char *plan_report_json(const struct plan *plan,
	void (*add)(struct jsonwriter *json, const void *context), const void *context)
{
	_cleanup_(jsonwriter_done) struct jsonwriter json;
	char *text = NULL;

	jsonwriter_init(&json, false);
	jsonwriter_object(&json, NULL);
	write_what_it_is(&json, plan->platform);
	jsonwriter_array(&json, "sockets");
	for (unsigned s = 0; s < plan->n_sockets; s++)
		plan_report_write_socket(&json, plan, s);
	jsonwriter_close(&json);
	jsonwriter_array(&json, "serves");
	for (unsigned m = 0; m < plan->platform->n_metrics; m++)
		write_served(&json, plan, m);
	jsonwriter_close(&json);
	jsonwriter_array(&json, "absent");
	for (unsigned m = 0; m < plan->platform->n_metrics; m++)
		write_absent(&json, plan, m);
	jsonwriter_close(&json);
	plan_report_missing(&json, plan);
	if (add)
		add(&json, context);
	jsonwriter_close(&json);
	jsonwriter_finish(&json, &text);
	return text;
}

static void print_box(const struct plan *plan, const struct plan_box *box, FILE *out)
{
	fprintf(out, "  %s (type %u) on CPU %d%s:", box->pmu, box->type, box->cpu,
		box->is_extra ? ", of metrics that the site enables" : "");
	for (unsigned i = 0; i < box->n_uses; i++) {
		const struct plan_use *use = &box->uses[i];
		char worth[SCALE_TEXT_MAX];

		scale_text(use->scale, worth);
		fprintf(out, "%s %s%s 0x%" PRIx64 " x %s", i ? "," : "", use->subtract ? "-" : "",
			plan->platform->metrics[use->metric].name,
			box->events[use->event].code.config, worth);
	}
	fputc('\n', out);
}

/* The words that a reason explains. */
static const char *words_of(uint32_t quality)
{
	const bool is_uncalibrated = quality & PAGE_UNCALIBRATED;

	if (quality & PAGE_ABSENT)
		return "absent";
	if (quality & PAGE_PARTIAL)
		return is_uncalibrated ? "partial and uncalibrated" : "partial";
	return "uncalibrated";
}

static void print_why(
	const struct plan *plan, const struct plan_socket *socket, unsigned metric, FILE *out)
{
	const char *name = plan->platform->metrics[metric].name;
	unsigned substituted_by = socket->substituted_by[metric];

	if (substituted_by)
		fprintf(out, "  %s is counted by %s in its place: %s\n", name,
			plan->platform->metrics[substituted_by - 1].name, socket->why[metric]);
	else if (socket->why[metric][0])
		fprintf(out, "  %s is %s: %s\n", name, words_of(socket->quality[metric]),
			socket->why[metric]);
}

/* One PMU may be looked for by several metrics: one line is enough for a person. */
static bool was_printed(const struct plan *plan, unsigned missing)
{
	const struct plan_missing *all = plan->missing;

	for (unsigned i = 0; i < missing; i++)
		if (!strcmp(all[i].pmu, all[missing].pmu) && !strcmp(all[i].why, all[missing].why))
			return true;
	return false;
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
			print_why(plan, socket, m, out);
	}
	for (unsigned i = 0; i < plan->n_missing; i++)
		if (!was_printed(plan, i))
			fprintf(out, "Not usable: %s: %s\n", plan->missing[i].pmu,
				plan->missing[i].why);
	if (*plan->platform->asleep)
		fprintf(out, "Counted only if enable in [metrics] of uncored.conf names them:%s\n",
			plan->platform->asleep);
}
