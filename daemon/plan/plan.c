/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/plan/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"

int plan_add_missing(struct plan *plan, const char *pmu, int metric, const char *why)
{
	struct plan_missing *missing;

	for (unsigned i = 0; i < plan->n_missing; i++) {
		missing = &plan->missing[i];
		if (missing->metric == metric && strcmp(missing->pmu, pmu) == 0 &&
			strcmp(missing->why, why) == 0)
			return 0;
	}
	if (array_room(&plan->missing, plan->n_missing, sizeof *missing) < 0)
		return -ENOMEM;
	missing = &plan->missing[plan->n_missing++];
	missing->metric = metric;
	snprintf(missing->pmu, sizeof missing->pmu, "%s", pmu);
	snprintf(missing->why, sizeof missing->why, "%s", why);
	return 0;
}

struct plan_box *plan_find_box(
	const struct plan *plan, unsigned s, const struct pmu *pmu, int cpu, bool is_extra)
{
	const struct plan_socket *socket = &plan->sockets[s];

	for (unsigned i = 0; i < socket->n_boxes; i++) {
		struct plan_box *box = &plan->boxes[socket->first_box + i];

		if (box->cpu == cpu && box->is_extra == is_extra &&
			strcmp(box->pmu, pmu->name) == 0)
			return box;
	}
	return NULL;
}

struct plan_box *plan_take_box(
	struct plan *plan, unsigned s, const struct pmu *pmu, int cpu, bool is_extra)
{
	struct plan_box *box = plan_find_box(plan, s, pmu, cpu, is_extra);

	if (box)
		return box;
	if (array_room(&plan->boxes, plan->n_boxes, sizeof *box) < 0)
		return NULL;
	box = &plan->boxes[plan->n_boxes++];
	plan->sockets[s].n_boxes++;
	*box = (struct plan_box){
		.type = pmu->type, .cpu = cpu, .is_extra = is_extra, .socket = s
	};
	memcpy(box->pmu, pmu->name, sizeof box->pmu);
	return box;
}

int plan_add_channel(struct plan *plan, const struct page_channel *channel)
{
	if (array_room(&plan->channels, plan->n_channels, sizeof *channel) < 0)
		return -ENOMEM;
	plan->channels[plan->n_channels++] = *channel;
	plan->sockets[channel->socket].n_channels++;
	return 0;
}

static void take_check(struct plan_socket *socket, unsigned metric, unsigned check)
{
	if (!(socket->quality[metric] & PAGE_ABSENT) || socket->quality[check] & PAGE_ABSENT ||
		socket->contradicted[metric])
		return;
	socket->substituted_by[metric] = check + 1;
	socket->quality[metric] = socket->quality[check];
	socket->found[metric] = socket->found[check];
}

void plan_take_checks(struct plan *plan)
{
	for (unsigned m = 0; m < plan->platform->n_metrics; m++) {
		int check = platform_check_of(plan->platform, m);

		for (unsigned s = 0; check >= 0 && s < plan->n_sockets; s++)
			take_check(&plan->sockets[s], m, (unsigned)check);
	}
}

static const struct event_code *disputed_code(const struct plan_box *box, unsigned metric)
{
	for (unsigned i = 0; i < box->n_uses; i++) {
		const struct event_code *code = &box->events[box->uses[i].event].code;

		if (box->uses[i].metric == metric && code->is_disputed)
			return code;
	}
	return NULL;
}

const char *plan_find_dispute(const struct plan *plan, unsigned metric)
{
	const struct event_code *code = NULL;

	if (plan->platform->metrics[metric].calibrated)
		return NULL;
	for (unsigned i = 0; i < plan->n_boxes && !code; i++)
		code = disputed_code(&plan->boxes[i], metric);
	return code ? code->tried : NULL;
}

bool plan_serves(const struct plan *plan, int metric)
{
	unsigned n = plan->platform->n_metrics;

	for (unsigned i = 0; i < plan->n_sockets * n; i++)
		if ((metric < 0 || i % n == (unsigned)metric) &&
			!(plan->sockets[i / n].quality[i % n] & PAGE_ABSENT))
			return true;
	return false;
}

void plan_done(struct plan *plan)
{
	free(plan->sockets);
	free(plan->boxes);
	free(plan->channels);
	free(plan->missing);
	*plan = (struct plan){ 0 };
}
