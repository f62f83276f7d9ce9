/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/plan/channels.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/unit.h"

/* "imc3"; on the second die of the socket that has a box of this PMU: "imc3-die1". */
static void channels_name(
	const struct topology *topology, const struct placement *p, char ret[PAGE_NAME_MAX])
{
	const struct pmu *pmu = p->match->pmu;
	const struct plan_box *box = p->box;
	int number = pmu->number < 0 ? 0 : pmu->number;
	char name[2 * PAGE_NAME_MAX];
	unsigned die = 0;
	int cpu = -1;

	while ((cpu = match_next_cpu(pmu, topology, box->socket, cpu)) != box->cpu)
		die++;
	if (die)
		snprintf(name, sizeof name, "%s%d-die%u", p->term->channel, number, die);
	else
		snprintf(name, sizeof name, "%s%d", p->term->channel, number);
	snprintf(ret, PAGE_NAME_MAX, "%.*s", PAGE_NAME_MAX - 1, name);
}

/* Gives the kernel's names, if there are any, for clients that want raw counts. */
static void name_counter(
	const struct plan *plan, struct page_channel *channel, const struct placement *p)
{
	const char *unit = plan->platform->metrics[p->metric].unit;
	const struct event_code *code = &p->match->code;
	const struct plan_box *box = p->box;
	const char *alias = code->via + strlen("sysfs:");

	channel->cpu = box->cpu;
	if (strlen(box->pmu) < sizeof channel->pmu)
		strcpy(channel->pmu, box->pmu);
	if (strncmp(code->via, "sysfs:", strlen("sysfs:")) || !channel->pmu[0] ||
		strlen(alias) >= sizeof channel->event)
		return;
	/* The page has no room for a fraction, or for another unit. */
	if (!scale_is_whole(p->term->scale) || !unit_is_bytes(unit))
		return;
	strcpy(channel->event, alias);
	channel->bytes = p->term->scale.n;
}

/* If a channel has several events, its count is not the count of any single event. */
static void unname_event(struct page_channel *channel)
{
	channel->event[0] = '\0';
	channel->bytes = 0;
}

int channels_take(struct plan *plan, const struct topology *topology, const struct placement *p,
	int32_t *ret, struct fault *fault)
{
	const struct plan_box *box = p->box;
	struct page_channel channel = { .socket = box->socket, .metric = p->metric };

	for (unsigned i = 0; i < box->n_uses; i++)
		if (box->uses[i].metric == p->metric && box->uses[i].channel != PLAN_NO_CHANNEL) {
			*ret = box->uses[i].channel;
			unname_event(&plan->channels[*ret]);
			return 0;
		}
	if (plan->n_channels == PAGE_CHANNELS_MAX)
		return fault_set(
			fault, -E2BIG, "there are more than %d memory channels", PAGE_CHANNELS_MAX);
	channels_name(topology, p, channel.name);
	name_counter(plan, &channel, p);
	*ret = (int32_t)plan->n_channels;
	return plan_add_channel(plan, &channel);
}
