/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmda/perfevent.h"

#include <stdlib.h>
#include <string.h>

#include "pmda/instances.h"

enum { NAME_MAX_BYTES = 127 }; /* with its instance, for PAPI */

/* One event of one box on one CPU. */
struct raw {
	unsigned metric;   /* index into tree.events */
	unsigned instance; /* index into tree.cpus */
	int channel;       /* index of view.channels; -1: this uncored has it no more */
	uint32_t bytes;    /* per count */
	uint64_t base;     /* what earlier generations of uncored have counted */
	uint64_t count;    /* last good one, base included */
};

/* One event of the boxes of one name: a metric. */
struct event {
	char pmu[UNCORE_NAME_MAX], event[UNCORE_NAME_MAX];
	unsigned cluster, item;
	bool offered; /* some box has it */
};

struct cpu {
	unsigned cpu;
	char name[16];
};

static struct {
	unsigned n_raws, n_events, n_cpus;
	struct raw *raws;
	struct event *events;
	struct cpu *cpus;
	pmdaInstid *set;
	pmdaMetric *metrics;
	pmdaNameSpace *names;
	unsigned n_connections; /* that .channel belongs to */
	uint64_t generation[2]; /* that .base precedes */
} tree;

/* --- making it, once --- */

/* Metrics of one PMU share a cluster. */
static unsigned cluster_of(const char *pmu)
{
	unsigned last = PERFEVENT_FIRST_CLUSTER - 1;

	for (unsigned i = 0; i < tree.n_events; i++) {
		if (strcmp(tree.events[i].pmu, pmu) == 0)
			return tree.events[i].cluster;
		if (tree.events[i].cluster > last)
			last = tree.events[i].cluster;
	}
	return last + 1;
}

static unsigned items_of(unsigned cluster)
{
	unsigned n = 0;

	for (unsigned i = 0; i < tree.n_events; i++)
		n += tree.events[i].cluster == cluster;
	return n;
}

static unsigned take_event(const struct uncore_channel *channel)
{
	struct event *event = &tree.events[tree.n_events];

	for (unsigned i = 0; i < tree.n_events; i++)
		if (strcmp(tree.events[i].pmu, channel->pmu) == 0 &&
			strcmp(tree.events[i].event, channel->event) == 0)
			return i;
	event->cluster = cluster_of(channel->pmu);
	event->item = items_of(event->cluster);
	snprintf(event->pmu, sizeof event->pmu, "%s", channel->pmu);
	snprintf(event->event, sizeof event->event, "%s", channel->event);
	return tree.n_events++;
}

static int compare_cpus(const void *a, const void *b)
{
	unsigned x = ((const struct cpu *)a)->cpu, y = ((const struct cpu *)b)->cpu;

	return x < y ? -1 : x > y;
}

static int find_cpu(unsigned cpu)
{
	for (unsigned i = 0; i < tree.n_cpus; i++)
		if (tree.cpus[i].cpu == cpu)
			return (int)i;
	return -1;
}

/* An event that the kernel names, on one of its boxes. */
static bool is_named(const struct view *view, uint32_t index, struct uncore_channel *ret)
{
	size_t name_bytes;

	*ret = (struct uncore_channel)UNCORE_CHANNEL_INIT;
	if (uncore_describe_channel(view->handle, index, ret) < 0 || !ret->event[0] || !ret->bytes)
		return false;
	name_bytes = strlen("perfevent.hwcounters..") + strlen(ret->pmu) + strlen(ret->event) +
		     strlen(".value:cpu4294967295");
	return name_bytes <= NAME_MAX_BYTES;
}

static void add_cpus(const struct view *view)
{
	struct uncore_channel channel;

	for (uint32_t i = 0; i < view->machine.n_channels; i++)
		if (is_named(view, i, &channel) && find_cpu(channel.cpu) < 0)
			tree.cpus[tree.n_cpus++].cpu = channel.cpu;
	qsort(tree.cpus, tree.n_cpus, sizeof *tree.cpus, compare_cpus);
	for (unsigned i = 0; i < tree.n_cpus; i++) {
		struct cpu *cpu = &tree.cpus[i];

		snprintf(cpu->name, sizeof cpu->name, "cpu%u", cpu->cpu);
		tree.set[i] = (pmdaInstid){ (int)i, cpu->name };
	}
	instances_indoms[CPUS_INDOM].it_numinst = (int)tree.n_cpus;
	instances_indoms[CPUS_INDOM].it_set = tree.set;
}

/* Everything gets its number; only what works at the moment is offered from now on. */
static void add_raws(const struct view *view)
{
	struct uncore_channel channel;

	for (uint32_t i = 0; i < view->machine.n_channels; i++) {
		struct raw raw = { .channel = (int)i };

		if (!is_named(view, i, &channel))
			continue;
		raw.metric = take_event(&channel);
		raw.instance = (unsigned)find_cpu(channel.cpu);
		raw.bytes = channel.bytes;
		if (view->channels[i].quality & UNCORE_ABSENT)
			continue;
		tree.raws[tree.n_raws++] = raw;
		tree.events[raw.metric].offered = true;
	}
}

static void make_tree(const struct view *view)
{
	unsigned most = view->machine.n_channels + 1;

	tree.raws = calloc(most, sizeof *tree.raws);
	tree.events = calloc(most, sizeof *tree.events);
	tree.cpus = calloc(most, sizeof *tree.cpus);
	tree.set = calloc(most, sizeof *tree.set);
	if (!tree.raws || !tree.events || !tree.cpus || !tree.set) {
		free(tree.raws);
		free(tree.events);
		free(tree.cpus);
		free(tree.set);
		tree.raws = NULL;
		return;
	}
	add_cpus(view);
	add_raws(view);
	tree.n_connections = view->n_connections;
	memcpy(tree.generation, view->machine.generation, sizeof tree.generation);
}

/* --- keeping it up --- */

static int find_channel(const struct view *view, const struct raw *raw)
{
	const struct event *event = &tree.events[raw->metric];
	struct uncore_channel channel = UNCORE_CHANNEL_INIT;

	for (uint32_t i = 0; i < view->machine.n_channels; i++)
		if (uncore_describe_channel(view->handle, i, &channel) == 0 &&
			channel.cpu == tree.cpus[raw->instance].cpu &&
			channel.bytes == raw->bytes && strcmp(channel.pmu, event->pmu) == 0 &&
			strcmp(channel.event, event->event) == 0)
			return (int)i;
	return -1;
}

/* uncored was restarted: its channels may lie elsewhere, and may count from 0. */
static void follow(const struct view *view)
{
	bool same = !memcmp(tree.generation, view->machine.generation, sizeof tree.generation);

	if (tree.n_connections == view->n_connections)
		return;
	for (unsigned i = 0; i < tree.n_raws; i++) {
		tree.raws[i].channel = find_channel(view, &tree.raws[i]);
		if (!same)
			tree.raws[i].base = tree.raws[i].count;
	}
	tree.n_connections = view->n_connections;
	memcpy(tree.generation, view->machine.generation, sizeof tree.generation);
}

static void take_count(struct raw *raw, const struct view *view)
{
	const struct uncore_channel_value *value = &view->channels[raw->channel];
	uint64_t count = raw->base + value->count / raw->bytes;

	if (!(value->quality & UNCORE_ABSENT) && count > raw->count)
		raw->count = count;
}

void perfevent_update(const struct view *view)
{
	if (!tree.raws)
		make_tree(view);
	if (!tree.raws)
		return;
	follow(view);
	for (unsigned i = 0; i < tree.n_raws; i++)
		if (tree.raws[i].channel >= 0)
			take_count(&tree.raws[i], view);
}

/* --- for the agent --- */

static pmID pmid_of(int domain, const struct event *event)
{
	return pmID_build(domain, event->cluster, event->item);
}

static pmDesc describe(int domain, const struct event *event)
{
	return (pmDesc){
		.pmid = pmid_of(domain, event),
		.type = PM_TYPE_U64,
		.indom = instances_indoms[CPUS_INDOM].it_indom,
		.sem = PM_SEM_COUNTER,
		.units = PMDA_PMUNITS(0, 0, 1, 0, 0, PM_COUNT_ONE),
	};
}

const pmdaMetric *perfevent_metrics(int domain, unsigned *ret_n)
{
	unsigned n = 0;

	*ret_n = 0;
	if (!tree.n_raws)
		return NULL;
	if (!tree.metrics)
		tree.metrics = calloc(tree.n_events, sizeof *tree.metrics);
	if (!tree.metrics)
		return NULL;
	for (unsigned i = 0; i < tree.n_events; i++)
		if (tree.events[i].offered)
			tree.metrics[n++].m_desc = describe(domain, &tree.events[i]);
	*ret_n = n;
	return tree.metrics;
}

/* As the stock agent does: whatever a name may not hold becomes an underscore. */
static void normalise(char *name)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789_.";

	for (char *c = name; *(c += strspn(c, allowed));)
		*c = '_';
}

pmdaNameSpace *perfevent_names(int domain)
{
	char name[NAME_MAX_BYTES + 1];

	if (tree.names || !tree.n_raws || pmdaTreeCreate(&tree.names) < 0)
		return tree.names;
	for (unsigned i = 0; i < tree.n_events; i++) {
		if (!tree.events[i].offered)
			continue;
		snprintf(name, sizeof name, "perfevent.hwcounters.%s.%s.value", tree.events[i].pmu,
			tree.events[i].event);
		normalise(name);
		pmdaTreeInsert(tree.names, pmid_of(domain, &tree.events[i]), name);
	}
	pmdaTreeRebuildHash(tree.names, (int)tree.n_events);
	return tree.names;
}

static const struct event *find_event(pmID pmid)
{
	for (unsigned i = 0; i < tree.n_events; i++)
		if (tree.events[i].cluster == pmID_cluster(pmid) &&
			tree.events[i].item == pmID_item(pmid))
			return &tree.events[i];
	return NULL;
}

bool perfevent_count(pmID pmid, unsigned inst, uint64_t *ret_count)
{
	const struct event *event = find_event(pmid);

	for (unsigned i = 0; event && i < tree.n_raws; i++)
		if (tree.raws[i].instance == inst && &tree.events[tree.raws[i].metric] == event) {
			*ret_count = tree.raws[i].count;
			return true;
		}
	return false;
}

const char *perfevent_help(pmID pmid, bool one_line)
{
	static char text[1024];
	const struct event *event = find_event(pmid);

	if (!event)
		return NULL;
	if (one_line)
		snprintf(text, sizeof text, "count of the kernel's event %s of PMU %s",
			event->event, event->pmu);
	else
		snprintf(text, sizeof text,
			"What the kernel's event %s of PMU %s has counted, as it was counted on "
			"the CPU of the\ninstance: no bytes, whatever the event's name says. The "
			"metrics below uncore.channel\nhave the bytes. While uncored is away the "
			"last count stands here.",
			event->event, event->pmu);
	return text;
}

unsigned perfevent_cpu(unsigned inst)
{
	return inst < tree.n_cpus ? tree.cpus[inst].cpu : 0;
}
