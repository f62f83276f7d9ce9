/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * First every term is matched with the PMUs, whatever the socket (match.c). Then the sockets are
 * filled one after the other, each in the order of the platform file, so that boxes and channels
 * come out sorted without being moved: uses refer to them by index. The clocks of a socket follow
 * its last metric.
 */
#include "daemon/plan/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"
#include "daemon/plan/match.h"
#include "daemon/plan/quality.h"

struct planner {
	const struct platform *platform;
	const struct topology *topology;
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

/* Room for one more after the @n elements of *@array: doubles whenever @n is a power of two. */
static int make_room(void *array, unsigned n, size_t element_bytes)
{
	void **pointer = array;
	void *larger;

	if (n & (n - 1))
		return 0;
	larger = reallocarray(*pointer, n ? 2 * (size_t)n : 1, element_bytes);
	if (!larger)
		return -ENOMEM;
	*pointer = larger;
	return 0;
}

/* --- what is missing --- */

static int add_missing(struct plan *plan, const char *pmu, int metric, const char *why)
{
	struct plan_missing *missing;

	for (unsigned i = 0; i < plan->n_missing; i++) {
		missing = &plan->missing[i];
		if (missing->metric == metric && strcmp(missing->pmu, pmu) == 0 &&
			strcmp(missing->why, why) == 0)
			return 0;
	}
	if (make_room(&plan->missing, plan->n_missing, sizeof *missing) < 0)
		return -ENOMEM;
	missing = &plan->missing[plan->n_missing++];
	missing->metric = metric;
	snprintf(missing->pmu, sizeof missing->pmu, "%s", pmu);
	snprintf(missing->why, sizeof missing->why, "%s", why);
	return 0;
}

static int note_list(struct planner *planner, unsigned m, unsigned t)
{
	const struct match_list *list = &planner->lists[m][t];
	int r = 0;

	if (!list->n)
		return add_missing(&planner->plan, planner->platform->metrics[m].terms[t].pmu, m,
			"the kernel has no PMU of that name");
	for (unsigned i = 0; r >= 0 && i < list->n; i++) {
		const struct match *match = &list->matches[i];

		if (!match->usable)
			r = add_missing(&planner->plan, match->pmu->name,
				match->whole_pmu ? -1 : (int)m, match->why);
		if (r >= 0 && match->clock_why[0])
			r = add_missing(&planner->plan, match->pmu->name, m, match->clock_why);
	}
	return r;
}

/* --- matching --- */

/* A PMU that lacks @without cannot give its part of a sum. */
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

/* All terms of a metric that name one PMU are usable on it, or none is. */
static void drop_half_sums(struct match_list lists[], unsigned n_terms)
{
	for (unsigned t = 0; t < n_terms; t++)
		for (unsigned i = 0; i < lists[t].n; i++)
			for (unsigned other = 0; other < n_terms; other++)
				if (!lists[t].matches[i].usable)
					drop_pmu(&lists[other], &lists[t].matches[i]);
}

static int match_metrics(struct planner *planner)
{
	int r = 0;

	for (unsigned m = 0; m < planner->platform->n_metrics; m++) {
		const struct platform_metric *metric = &planner->platform->metrics[m];
		unsigned n = metric->absent[0] ? 0 : metric->n_terms;

		for (unsigned t = 0; r >= 0 && t < n; t++)
			r = match_term(&metric->terms[t], &planner->pmus, planner->topology,
				&planner->lists[m][t]);
		drop_half_sums(planner->lists[m], n);
		for (unsigned t = 0; r >= 0 && t < n; t++)
			r = note_list(planner, m, t);
	}
	return r;
}

/* --- boxes, events, channels --- */

static int take_box(
	struct planner *planner, unsigned s, const struct pmu *pmu, int cpu, struct plan_box **ret)
{
	struct plan *plan = &planner->plan;
	struct plan_socket *socket = &plan->sockets[s];
	struct plan_box *box;

	for (unsigned i = 0; i < socket->n_boxes; i++) {
		box = &plan->boxes[socket->first_box + i];
		if (box->cpu == cpu && strcmp(box->pmu, pmu->name) == 0) {
			*ret = box;
			return 0;
		}
	}
	if (make_room(&plan->boxes, plan->n_boxes, sizeof *box) < 0)
		return -ENOMEM;
	box = &plan->boxes[plan->n_boxes++];
	socket->n_boxes++;
	*box = (struct plan_box){ .type = pmu->type, .cpu = cpu, .socket = s };
	memcpy(box->pmu, pmu->name, sizeof box->pmu);
	*ret = box;
	return 0;
}

static bool same_code(const struct event_code *a, const struct event_code *b)
{
	return a->config == b->config && a->config1 == b->config1 && a->config2 == b->config2;
}

/* The index of an event of @box with this code, which is added if need be. */
static int take_event(struct planner *planner, struct plan_box *box, const struct event_code *code,
	bool is_clock, uint8_t *ret)
{
	unsigned i;

	for (i = 0; i < box->n_events; i++)
		if (box->events[i].is_clock == is_clock && same_code(&box->events[i].code, code))
			break;
	if (i == PLAN_EVENTS_MAX)
		return fault_set(planner->fault, -E2BIG, "%s would count more than %d events",
			box->pmu, PLAN_EVENTS_MAX);
	if (i == box->n_events)
		box->events[box->n_events++] =
			(struct plan_event){ .code = *code, .is_clock = is_clock };
	*ret = i;
	return 0;
}

/* "imc3"; the second die of a socket that has a box of this PMU: "imc3-die1". */
static void name_channel(struct planner *planner, const struct platform_term *term,
	const struct pmu *pmu, const struct plan_box *box, char ret[PAGE_NAME_MAX])
{
	int number = pmu->number < 0 ? 0 : pmu->number;
	char name[2 * PAGE_NAME_MAX];
	unsigned die = 0;
	int cpu = -1;

	while ((cpu = match_next_cpu(pmu, planner->topology, box->socket, cpu)) != box->cpu)
		die++;
	if (die)
		snprintf(name, sizeof name, "%s%d-die%u", term->channel, number, die);
	else
		snprintf(name, sizeof name, "%s%d", term->channel, number);
	snprintf(ret, PAGE_NAME_MAX, "%.*s", PAGE_NAME_MAX - 1, name);
}

/* Whoever wants raw counts gets them under the kernel's own names, where it has such names. */
static void name_counter(struct page_channel *channel, const struct plan_box *box,
	const struct event_code *code, uint32_t bytes)
{
	const char *alias = code->via + strlen("sysfs:");

	channel->cpu = box->cpu;
	if (strlen(box->pmu) < sizeof channel->pmu)
		strcpy(channel->pmu, box->pmu);
	if (strncmp(code->via, "sysfs:", strlen("sysfs:")) || !channel->pmu[0] ||
		strlen(alias) >= sizeof channel->event)
		return;
	strcpy(channel->event, alias);
	channel->bytes = bytes;
}

/* The count of a channel with several events is that of none of them. */
static void unname_event(struct page_channel *channel)
{
	channel->event[0] = '\0';
	channel->bytes = 0;
}

/* Terms of one metric on one box make one channel. */
static int take_channel(struct planner *planner, unsigned m, const struct platform_term *term,
	const struct match *match, const struct plan_box *box, int32_t *ret)
{
	struct plan *plan = &planner->plan;
	struct page_channel *channel;

	for (unsigned i = 0; i < box->n_uses; i++)
		if (box->uses[i].metric == m && box->uses[i].channel != PLAN_NO_CHANNEL) {
			*ret = box->uses[i].channel;
			unname_event(&plan->channels[*ret]);
			return 0;
		}
	if (plan->n_channels == PAGE_CHANNELS_MAX)
		return fault_set(planner->fault, -E2BIG, "there are more than %d memory channels",
			PAGE_CHANNELS_MAX);
	if (make_room(&plan->channels, plan->n_channels, sizeof *channel) < 0)
		return -ENOMEM;
	channel = &plan->channels[plan->n_channels];
	*channel = (struct page_channel){ .socket = box->socket, .metric = m };
	name_channel(planner, term, match->pmu, box, channel->name);
	name_counter(channel, box, &match->code, term->bytes);
	plan->sockets[box->socket].n_channels++;
	*ret = plan->n_channels++;
	return 0;
}

static int add_use(struct planner *planner, unsigned m, const struct platform_term *term,
	const struct match *match, struct plan_box *box)
{
	struct plan_use use = {
		.metric = m,
		.term = term - planner->platform->metrics[m].terms,
		.subtract = term->subtract,
		.bytes = term->bytes,
		.channel = PLAN_NO_CHANNEL,
	};
	int r = take_event(planner, box, &match->code, false, &use.event);

	if (r >= 0 && box->n_uses == PLAN_EVENTS_MAX)
		r = fault_set(planner->fault, -E2BIG, "%s would be used more than %d times",
			box->pmu, PLAN_EVENTS_MAX);
	if (r >= 0 && term->channel[0] && !term->subtract)
		r = take_channel(planner, m, term, match, box, &use.channel);
	if (r >= 0)
		box->uses[box->n_uses++] = use;
	return r;
}

static int add_clock(struct planner *planner, unsigned m, const struct platform_term *term,
	const struct match *match, struct plan_box *box)
{
	struct plan_event *event;
	uint8_t index = 0;
	int r;

	(void)m;
	if (!match->has_clock)
		return 0;
	r = take_event(planner, box, &match->clock, true, &index);
	if (r < 0)
		return r;
	event = &box->events[index];
	if (!event->clock_ms || term->clock_ms < event->clock_ms)
		event->clock_ms = term->clock_ms;
	return 0;
}

/* --- what a socket counts --- */

typedef int add_fn(struct planner *planner, unsigned m, const struct platform_term *term,
	const struct match *match, struct plan_box *box);

/* Calls @add for every usable box of metric @m on socket @s. */
static int add_boxes(struct planner *planner, unsigned s, unsigned m, unsigned t, add_fn *add)
{
	const struct match_list *list = &planner->lists[m][t];
	struct plan_box *box;
	int r = 0;

	for (unsigned i = 0; i < list->n; i++) {
		const struct match *match = &list->matches[i];
		int cpu = -1;

		while (match->usable && r >= 0 &&
			(cpu = match_next_cpu(match->pmu, planner->topology, s, cpu)) >= 0) {
			r = take_box(planner, s, match->pmu, cpu, &box);
			if (r >= 0)
				r = add(planner, m, &planner->platform->metrics[m].terms[t], match,
					box);
		}
	}
	return r;
}

static int add_all(struct planner *planner, unsigned s, add_fn *add)
{
	int r = 0;

	for (unsigned m = 0; m < planner->platform->n_metrics; m++) {
		if (planner->plan.sockets[s].quality[m] & PAGE_ABSENT)
			continue;
		for (unsigned t = 0; r >= 0 && t < planner->platform->metrics[m].n_terms; t++)
			r = add_boxes(planner, s, m, t, add);
	}
	return r;
}

/* --- sockets --- */

/* The CPU of most boxes: read there, they need no interrupt to another CPU. */
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

static int fill_socket(struct planner *planner, unsigned s)
{
	struct plan *plan = &planner->plan;
	struct plan_socket *socket = &plan->sockets[s];
	int r;

	socket->package = planner->topology->package_of_socket[s];
	socket->first_box = plan->n_boxes;
	socket->first_channel = plan->n_channels;
	for (unsigned m = 0; m < planner->platform->n_metrics; m++)
		quality_judge(
			socket, m, planner->platform, planner->lists[m], planner->topology, s);
	r = add_all(planner, s, add_use);
	if (r >= 0)
		r = add_all(planner, s, add_clock);
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
		r = fill_socket(planner, s);
	return r;
}

int plan_make(const struct platform *platform, int root_fd, const struct topology *topology,
	struct plan *ret, struct fault *fault)
{
	_cleanup_(planner_done) struct planner planner = {
		.platform = platform,
		.topology = topology,
		.plan = { .platform = platform },
		.fault = fault,
	};
	int r = pmu_list_load(root_fd, &planner.pmus);

	if (r < 0)
		return fault_set(
			fault, r, "sys/bus/event_source/devices cannot be read: %s", strerror(-r));
	r = match_metrics(&planner);
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

static void take_check(struct plan_socket *socket, unsigned metric, unsigned check)
{
	if (!(socket->quality[metric] & PAGE_ABSENT) || socket->quality[check] & PAGE_ABSENT ||
		socket->contradicted[metric])
		return;
	socket->substituted_by[metric] = check + 1;
	socket->quality[metric] = socket->quality[check];
}

void plan_take_checks(struct plan *plan)
{
	for (unsigned m = 0; m < plan->platform->n_metrics; m++) {
		int check = platform_check_of(plan->platform, m);

		for (unsigned s = 0; check >= 0 && s < plan->n_sockets; s++)
			take_check(&plan->sockets[s], m, (unsigned)check);
	}
}

void plan_done(struct plan *plan)
{
	free(plan->sockets);
	free(plan->boxes);
	free(plan->channels);
	free(plan->missing);
	*plan = (struct plan){ 0 };
}
