/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * First every term is matched with the PMUs of all sockets (match.c). Then the sockets are filled
 * one after the other, each in the order of the platform file, opt-in metrics last. So boxes and
 * channels are added in sorted order and keep their indices, by which uses refer to them. The
 * clocks of a socket follow its last metric.
 */
#include "daemon/plan/plan.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"
#include "daemon/machine/machine.h"
#include "daemon/plan/channels.h"
#include "daemon/plan/match.h"

struct planner {
	const struct platform *platform;
	const struct topology *topology;
	bool is_divided;
	struct pmu_list pmus;
	struct match_list lists[PAGE_METRICS_MAX][PLATFORM_TERMS_MAX];
	struct plan plan;
	struct fault *fault;
};

static void planner_done(struct planner *planner)
{
	for (unsigned m = 0; m < PAGE_METRICS_MAX; m++)
		for (unsigned t = 0; t < PLATFORM_TERMS_MAX; t++)
			match_list_done(&planner->lists[m][t]);
	pmu_list_done(&planner->pmus);
	plan_done(&planner->plan);
}

/* --- missing PMUs and events --- */

static int note_list(struct planner *planner, unsigned m, unsigned t)
{
	const struct match_list *list = &planner->lists[m][t];
	int r = 0;

	if (!list->n)
		return plan_add_missing(&planner->plan, planner->platform->metrics[m].terms[t].pmu,
			m, "the kernel has no PMU of that name");
	for (unsigned i = 0; r >= 0 && i < list->n; i++) {
		const struct match *match = &list->matches[i];

		if (i && match->is_repeated && match[-1].is_repeated)
			continue; /* there may be a hundred */
		if (!match->usable)
			r = plan_add_missing(&planner->plan, match->pmu->name,
				match->whole_pmu ? -1 : (int)m, match->why);
		if (r >= 0 && match->clock_why[0])
			r = plan_add_missing(&planner->plan, match->pmu->name, m, match->clock_why);
	}
	return r;
}

/* --- matching --- */

/* If one term is unusable on a PMU (@without), the PMU cannot give its part of the sum. */
static void drop_pmu(struct match_list *list, const struct match *without)
{
	for (unsigned i = 0; i < list->n; i++) {
		struct match *match = &list->matches[i];

		if (match->pmu != without->pmu || !match->usable)
			continue;
		match->usable = false;
		match->whole_pmu = without->whole_pmu;
		memcpy(match->why, without->why, sizeof match->why);
	}
}

/* All terms of a metric that name the same PMU are usable on it, or none is. */
static void drop_half_sums(struct match_list lists[], unsigned n_terms)
{
	for (unsigned t = 0; t < n_terms; t++)
		for (unsigned i = 0; i < lists[t].n; i++)
			for (unsigned other = 0; other < n_terms; other++)
				if (!lists[t].matches[i].usable)
					drop_pmu(&lists[other], &lists[t].matches[i]);
}

static int planner_match_metrics(struct planner *planner)
{
	int r = 0;

	for (unsigned m = 0; m < planner->platform->n_metrics; m++) {
		const struct platform_metric *metric = &planner->platform->metrics[m];
		unsigned n = metric->absent[0] ? 0 : metric->n_terms;

		for (unsigned t = 0; r >= 0 && t < n; t++)
			r = match_term(&metric->terms[t], metric->unit, &planner->pmus,
				planner->topology, &planner->lists[m][t]);
		drop_half_sums(planner->lists[m], n);
		for (unsigned t = 0; r >= 0 && t < n; t++)
			r = note_list(planner, m, t);
	}
	return r;
}

/* --- boxes, events, channels --- */

/* The index of the event of @box with this code; .n_events: it has none. */
static unsigned planner_find_event(
	const struct plan_box *box, const struct event_code *code, bool is_clock)
{
	unsigned i = 0;

	while (i < box->n_events &&
		!(box->events[i].is_clock == is_clock && event_is_same(&box->events[i].code, code)))
		i++;
	return i;
}

/* Finds the event of @box with this code, or adds it; *@ret is its index. */
static int take_event(struct planner *planner, struct plan_box *box, const struct event_code *code,
	bool is_clock, uint8_t *ret)
{
	unsigned i = planner_find_event(box, code, is_clock);

	if (i == PLAN_EVENTS_MAX)
		return fault_set(planner->fault, -E2BIG, "%s would count more than %d events",
			box->pmu, PLAN_EVENTS_MAX);
	if (i == box->n_events)
		box->events[box->n_events++] =
			(struct plan_event){ .code = *code, .is_clock = is_clock };
	*ret = i;
	return 0;
}

static int planner_add_use(struct planner *planner, const struct placement *p)
{
	const struct platform_term *term = p->term;
	struct plan_box *box = p->box;
	struct plan_use use = {
		.metric = p->metric,
		.term = term - planner->platform->metrics[p->metric].terms,
		.subtract = term->subtract,
		.scale = term->scale,
		.channel = PLAN_NO_CHANNEL,
	};
	int r = take_event(planner, box, &p->match->code, false, &use.event);

	if (r >= 0 && box->n_uses == PLAN_EVENTS_MAX)
		r = fault_set(planner->fault, -E2BIG, "%s would be used more than %d times",
			box->pmu, PLAN_EVENTS_MAX);
	if (r >= 0 && term->channel[0] && !term->subtract)
		r = channels_take(
			&planner->plan, planner->topology, p, &use.channel, planner->fault);
	if (r >= 0)
		box->uses[box->n_uses++] = use;
	return r;
}

static int add_clock(struct planner *planner, const struct placement *p)
{
	struct plan_event *event;
	uint8_t index = 0;
	int r;

	if (!p->match->has_clock)
		return 0;
	r = take_event(planner, p->box, &p->match->clock, true, &index);
	if (r < 0)
		return r;
	event = &p->box->events[index];
	if (!event->clock_ms || p->term->clock_ms < event->clock_ms)
		event->clock_ms = p->term->clock_ms;
	return 0;
}

/* --- the uses and clocks of a socket --- */

typedef int add_fn(struct planner *planner, const struct placement *p);

/*
 * The box of p->match on @cpu. That of opt-in metrics is an extra one, unless the event is opened
 * anyway. Terms with channels have all of a channel's events in one box.
 */
static int take_box(struct planner *planner, struct placement *p, int cpu)
{
	struct plan *plan = &planner->plan;
	bool is_extra = planner->platform->metrics[p->metric].is_opt_in;
	const struct pmu *pmu = p->match->pmu;

	if (is_extra && !p->term->channel[0]) {
		p->box = plan_find_box(plan, p->socket, pmu, cpu, false);
		if (p->box && planner_find_event(p->box, &p->match->code, false) < p->box->n_events)
			return 0;
	}
	p->box = plan_take_box(plan, p->socket, pmu, cpu, is_extra);
	return p->box ? 0 : -ENOMEM;
}

/* Calls @add for every box of p->match on p->socket. */
static int add_boxes(struct planner *planner, struct placement *p, add_fn *add)
{
	const struct pmu *pmu = p->match->pmu;
	int cpu = -1, r = 0;

	while (r >= 0 && (cpu = match_next_cpu(pmu, planner->topology, p->socket, cpu)) >= 0) {
		r = take_box(planner, p, cpu);
		if (r >= 0)
			r = add(planner, p);
	}
	return r;
}

/* Calls @add for every box of every term of @metric on @socket. */
static int planner_add_metric(
	struct planner *planner, unsigned socket, unsigned metric, add_fn *add)
{
	const struct platform_metric *asked = &planner->platform->metrics[metric];
	struct placement p = { .socket = socket, .metric = metric };
	int r = 0;

	for (unsigned t = 0; t < asked->n_terms; t++) {
		const struct match_list *list = &planner->lists[metric][t];

		p.term = &asked->terms[t];
		for (unsigned i = 0; r >= 0 && i < list->n; i++) {
			p.match = &list->matches[i];
			if (p.match->usable)
				r = add_boxes(planner, &p, add);
		}
	}
	return r;
}

static int add_some(struct planner *planner, unsigned socket, bool is_opt_in, add_fn *add)
{
	const struct platform *platform = planner->platform;
	int r = 0;

	for (unsigned m = 0; r >= 0 && m < platform->n_metrics; m++)
		if (platform->metrics[m].is_opt_in == is_opt_in &&
			!(planner->plan.sockets[socket].quality[m] & PAGE_ABSENT))
			r = planner_add_metric(planner, socket, m, add);
	return r;
}

static int planner_add_all(struct planner *planner, unsigned socket, add_fn *add)
{
	int r = add_some(planner, socket, false, add);

	return r < 0 ? r : add_some(planner, socket, true, add);
}

/* --- sockets --- */

/* The CPU that most boxes are on: reading them on this CPU interrupts no other CPU. */
static int busiest_cpu(const struct plan_box *boxes, unsigned n_boxes)
{
	unsigned most = 0;
	int busiest = -1;

	for (unsigned i = 0; i < n_boxes; i++) {
		unsigned n = 0;

		for (unsigned j = 0; j < n_boxes; j++)
			n += boxes[j].cpu == boxes[i].cpu;
		if (n > most) {
			most = n;
			busiest = boxes[i].cpu;
		}
	}
	return busiest;
}

static int planner_fill_socket(struct planner *planner, unsigned s)
{
	struct plan *plan = &planner->plan;
	struct plan_socket *socket = &plan->sockets[s];
	int r;

	socket->package = planner->topology->package_of_socket[s];
	socket->first_box = plan->n_boxes;
	socket->first_channel = plan->n_channels;
	for (unsigned m = 0; m < planner->platform->n_metrics; m++)
		quality_judge(socket, m,
			&(struct quality_evidence){
				.platform = planner->platform,
				.lists = planner->lists[m],
				.topology = planner->topology,
				.socket = s,
				.is_divided = planner->is_divided,
			});
	r = planner_add_all(planner, s, planner_add_use);
	if (r >= 0)
		r = planner_add_all(planner, s, add_clock);
	if (socket->n_boxes)
		socket->cpu = busiest_cpu(&plan->boxes[socket->first_box], socket->n_boxes);
	else
		socket->cpu = -1;
	return r;
}

static int fill_sockets(struct planner *planner)
{
	struct plan *plan = &planner->plan;
	unsigned n = planner->topology->n_sockets;
	int r = 0;

	if (n > PAGE_SOCKETS_MAX)
		return fault_set(planner->fault, -E2BIG, "there are %u sockets, more than %d", n,
			PAGE_SOCKETS_MAX);
	plan->sockets = calloc(n, sizeof *plan->sockets);
	if (!plan->sockets)
		return -ENOMEM;
	plan->n_sockets = n;
	for (unsigned s = 0; r >= 0 && s < n; s++)
		r = planner_fill_socket(planner, s);
	for (unsigned m = 0; r >= 0 && m < planner->platform->n_metrics; m++) {
		quality_note_dispute(plan, m);
		r = quality_note_uneven(plan, m);
	}
	return r;
}

int planner_make_plan(const struct platform *platform, int root_fd, const struct topology *topology,
	struct plan *ret, struct fault *fault)
{
	_cleanup_(planner_done) struct planner planner = {
		.platform = platform,
		.topology = topology,
		.is_divided = machine_is_divided(root_fd, topology),
		.plan = { .platform = platform },
		.fault = fault,
	};
	int r = pmu_list_load(root_fd, &planner.pmus);

	assert(platform->n_metrics <= PAGE_METRICS_MAX); /* platform_choose() */
	if (r < 0)
		return fault_set(
			fault, r, "sys/bus/event_source/devices cannot be read: %s", strerror(-r));
	match_place(&planner.pmus, platform);
	r = planner_match_metrics(&planner);
	if (r >= 0)
		r = fill_sockets(&planner);
	if (r == -ENOMEM)
		return fault_set(fault, r, "there is no memory for the plan");
	if (r < 0)
		return r;
	*ret = planner.plan;
	planner.plan = (struct plan){ 0 };
	return 0;
}
