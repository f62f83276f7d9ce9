/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmda/perfevent.h"

#include <stdlib.h>
#include <string.h>

#include "pmda/instances.h"
#include "pmda/metrics.h"
#include "pmda/record.h"
#include "pmda/sources.h"

struct cpu {
	unsigned cpu;
	char name[16];
};

static struct {
	bool loaded, published, unsaved;
	struct record record;
	uint64_t saved_ns;      /* CLOCK_MONOTONIC: when the record was last written */
	unsigned n_connections; /* that the counters' sources belong to */
	unsigned n_cpus;
	struct cpu *cpus;
	pmdaInstid *set;
	pmdaMetric *metrics;
	pmdaNameSpace *names;
} tree;

/* --- counters --- */

static struct counter *find_counter(const char *pmu, const char *event, unsigned cpu)
{
	for (unsigned i = 0; i < tree.record.n_counters; i++) {
		struct counter *counter = &tree.record.counters[i];

		if (counter->cpu == cpu && !strcmp(counter->pmu, pmu) &&
			!strcmp(counter->event, event))
			return counter;
	}
	return NULL;
}

/* A metric's number never changes: one PMU is a cluster, and what comes later is numbered later. */
static void give_number(struct counter *counter)
{
	unsigned next_cluster = PERFEVENT_FIRST_CLUSTER, next_item = 0;

	counter->cluster = 0;
	for (unsigned i = 0; i < tree.record.n_counters; i++) {
		const struct counter *other = &tree.record.counters[i];

		if (other->cluster >= next_cluster)
			next_cluster = other->cluster + 1;
		if (strcmp(other->pmu, counter->pmu))
			continue;
		counter->cluster = other->cluster;
		if (!strcmp(other->event, counter->event)) {
			counter->item = other->item;
			return;
		}
		if (other->item >= next_item)
			next_item = other->item + 1;
	}
	counter->item = next_item;
	if (!counter->cluster)
		counter->cluster = next_cluster;
}

static void add_counter(const struct source *source)
{
	struct counter counter = {
		.socket = source->socket,
		.cpu = source->cpu,
		.bytes = source->bytes,
		.source = -1,
	};

	strcpy(counter.pmu, source->pmu);
	strcpy(counter.event, source->event);
	give_number(&counter);
	tree.record.counters[tree.record.n_counters++] = counter;
}

/* The counter of @source, where it was counted before. */
static struct counter *find_same(const struct source *source)
{
	return find_counter(source->pmu, source->event, source->cpu);
}

/*
 * A counter whose own CPU has no such source any more, on the same socket: the kernel counts a box
 * on another CPU when that one went offline, and for PAPI an instance is a place in a list.
 */
static struct counter *find_moved(const struct source *source)
{
	for (unsigned i = 0; i < tree.record.n_counters; i++) {
		struct counter *counter = &tree.record.counters[i];

		if (counter->source < 0 && counter->socket == source->socket &&
			!strcmp(counter->pmu, source->pmu) &&
			!strcmp(counter->event, source->event))
			return counter;
	}
	return NULL;
}

/* While nothing is published, new counters may come. */
static struct counter *add_new(const struct source *source)
{
	if (tree.published)
		return NULL;
	add_counter(source);
	return &tree.record.counters[tree.record.n_counters - 1];
}

static bool is_found(unsigned source)
{
	for (unsigned i = 0; i < tree.record.n_counters; i++)
		if (tree.record.counters[i].source == (int)source)
			return true;
	return false;
}

/* Finds the sources of a new connection: in each way all that were not found yet. */
static void find_sources(const struct view *view)
{
	static struct counter *(*const ways[])(
		const struct source *) = { find_same, find_moved, add_new };
	struct source source;

	for (unsigned i = 0; i < tree.record.n_counters; i++)
		tree.record.counters[i].source = -1;
	for (size_t way = 0; way < sizeof ways / sizeof *ways; way++)
		for (unsigned i = 0; i < sources_count(view); i++) {
			struct counter *counter = NULL;

			if (!is_found(i) && sources_describe(view, i, &source))
				counter = ways[way](&source);
			if (!counter)
				continue;
			counter->source = (int)i;
			counter->bytes = source.bytes;
		}
}

/* Counters of a machine that this is no longer. */
static void forget_ghosts(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < tree.record.n_counters; i++)
		if (tree.record.counters[i].source >= 0)
			tree.record.counters[n++] = tree.record.counters[i];
	tree.record.n_counters = n;
}

/* --- following uncored --- */

/* If the agent and uncored are killed together, no more than a minute's counts are lost. */
static void save(const struct view *view)
{
	record_save(&tree.record);
	tree.saved_ns = view->now_ns;
	tree.unsaved = false;
}

/* uncored was restarted, or the agent was: sources may have other numbers, and may count from 0. */
static void follow(const struct view *view)
{
	struct record *record = &tree.record;
	bool same =
		!memcmp(record->generation, view->machine.generation, sizeof record->generation);

	if (tree.n_connections == view->n_connections)
		return;
	for (unsigned i = 0; i < record->n_counters && !same; i++)
		record->counters[i].base = record->counters[i].count;
	find_sources(view);
	if (!same && !tree.published)
		forget_ghosts();
	memcpy(record->generation, view->machine.generation, sizeof record->generation);
	tree.n_connections = view->n_connections;
	save(view);
}

/* What is written down is told to whoever may read the file. */
static void follow_rules(const struct view *view)
{
	bool is_public = view_admits_all(view);

	if (!view->is_current || is_public == tree.record.is_public)
		return;
	tree.record.is_public = is_public;
	save(view);
}

static void take_count(struct counter *counter, const struct view *view)
{
	uint64_t bytes, count;

	if (!sources_bytes(view, (unsigned)counter->source, &bytes))
		return;
	count = counter->base + bytes / counter->bytes;
	if (!tree.published)
		counter->offered = true;
	if (count > counter->count)
		counter->count = count;
}

static void take_counts(const struct view *view)
{
	for (unsigned i = 0; i < tree.record.n_counters; i++)
		if (tree.record.counters[i].source >= 0)
			take_count(&tree.record.counters[i], view);
	tree.unsaved = true;
	if (view->now_ns - tree.saved_ns >= RECORD_EVERY_S * UINT64_C(1000000000))
		save(view);
}

/* --- publishing, once --- */

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

static void add_cpus(void)
{
	for (unsigned i = 0; i < tree.record.n_counters; i++) {
		const struct counter *counter = &tree.record.counters[i];

		if (counter->offered && find_cpu(counter->cpu) < 0)
			tree.cpus[tree.n_cpus++].cpu = counter->cpu;
	}
	qsort(tree.cpus, tree.n_cpus, sizeof *tree.cpus, compare_cpus);
	for (unsigned i = 0; i < tree.n_cpus; i++) {
		struct cpu *cpu = &tree.cpus[i];

		snprintf(cpu->name, sizeof cpu->name, "cpu%u", cpu->cpu);
		tree.set[i] = (pmdaInstid){ (int)i, cpu->name };
	}
	instances_indoms[CPUS_INDOM].it_numinst = (int)tree.n_cpus;
	instances_indoms[CPUS_INDOM].it_set = tree.set;
}

/* Is it the first of its metric that is offered? */
static bool is_first(const struct counter *counter)
{
	if (!counter->offered)
		return false;
	for (const struct counter *c = tree.record.counters; c < counter; c++)
		if (c->offered && c->cluster == counter->cluster && c->item == counter->item)
			return false;
	return true;
}

static bool anything_offered(void)
{
	for (unsigned i = 0; i < tree.record.n_counters; i++)
		if (tree.record.counters[i].offered)
			return true;
	return false;
}

static void publish(void)
{
	unsigned n = tree.record.n_counters;

	if (tree.published || !anything_offered())
		return;
	tree.cpus = calloc(n, sizeof *tree.cpus);
	tree.set = calloc(n, sizeof *tree.set);
	tree.metrics = calloc(n, sizeof *tree.metrics);
	if (tree.cpus && tree.set && tree.metrics && pmdaTreeCreate(&tree.names) >= 0) {
		add_cpus();
		tree.published = true;
		return;
	}
	free(tree.cpus);
	free(tree.set);
	free(tree.metrics);
}

static bool load(const struct view *view)
{
	if (tree.published || (tree.loaded && tree.n_connections == view->n_connections))
		return true;
	free(tree.record.counters);
	tree.loaded = record_load(&tree.record, sources_count(view)) == 0;
	tree.n_connections = 0;
	return tree.loaded;
}

void perfevent_update(const struct view *view)
{
	if (!load(view))
		return;
	follow_rules(view);
	if (view->has_channels) {
		follow(view);
		take_counts(view);
	} else if (!view->is_current) {
		perfevent_end();
	}
	publish();
}

void perfevent_end(void)
{
	if (tree.unsaved)
		record_save(&tree.record);
	tree.unsaved = false;
}

/* --- for the agent --- */

static pmID pmid_of(int domain, const struct counter *counter)
{
	return pmID_build(domain, counter->cluster, counter->item);
}

static bool counts_bytes(const struct counter *counter)
{
	return !strcmp(counter->pmu, "uncored");
}

static pmDesc describe(int domain, const struct counter *counter)
{
	static const pmUnits bytes = PMDA_PMUNITS(1, 0, 0, PM_SPACE_BYTE, 0, 0),
			     counts = PMDA_PMUNITS(0, 0, 1, 0, 0, PM_COUNT_ONE);

	return (pmDesc){
		.pmid = pmid_of(domain, counter),
		.type = PM_TYPE_U64,
		.indom = instances_indoms[CPUS_INDOM].it_indom,
		.sem = PM_SEM_COUNTER,
		.units = counts_bytes(counter) ? bytes : counts,
	};
}

const pmdaMetric *perfevent_metrics(int domain, unsigned *ret_n)
{
	unsigned n = 0;

	for (unsigned i = 0; tree.published && i < tree.record.n_counters; i++)
		if (is_first(&tree.record.counters[i]))
			tree.metrics[n++].m_desc = describe(domain, &tree.record.counters[i]);
	*ret_n = n;
	return n ? tree.metrics : NULL;
}

/* As the stock agent does: whatever a name may not hold becomes an underscore. */
static void normalise(char *name)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789_.";

	for (char *c = name; *(c += strspn(c, allowed));)
		*c = '_';
}

static void insert_name(int domain, const struct counter *counter)
{
	char name[sizeof "perfevent.hwcounters..value" + 2 * UNCORE_NAME_MAX];

	/* With its instance a name must stay below 128 bytes for PAPI. */
	_Static_assert(sizeof name + sizeof ":cpu4294967295" < 128, "names");
	/* What libpfm4 names is one word: "bdx_unc_imc0::UNC_M_CAS_COUNT:RD". */
	snprintf(name, sizeof name, "perfevent.hwcounters.%s%s%s.value", counter->pmu,
		counter->event[0] == ':' ? "" : ".", counter->event);
	normalise(name);
	pmdaTreeInsert(tree.names, pmid_of(domain, counter), name);
}

/* That uncored answers, as a name that PAPI can have in a set of events beside the others. */
static void insert_up(int domain)
{
	pmdaTreeInsert(tree.names, pmID_build(domain, UP_CLUSTER, 0), "perfevent.uncored.up");
}

pmdaNameSpace *perfevent_names(int domain)
{
	static bool filled;
	unsigned n = 0;

	if (!tree.published || filled)
		return tree.names;
	for (unsigned i = 0; i < tree.record.n_counters; i++)
		if (is_first(&tree.record.counters[i])) {
			insert_name(domain, &tree.record.counters[i]);
			n++;
		}
	insert_up(domain);
	pmdaTreeRebuildHash(tree.names, (int)n + 1);
	filled = true;
	return tree.names;
}

static const struct counter *find_metric(pmID pmid)
{
	for (unsigned i = 0; i < tree.record.n_counters; i++)
		if (tree.record.counters[i].cluster == pmID_cluster(pmid) &&
			tree.record.counters[i].item == pmID_item(pmid))
			return &tree.record.counters[i];
	return NULL;
}

bool perfevent_is_public(void)
{
	return tree.record.is_public;
}

uint64_t *perfevent_copy_counts(uint64_t *former)
{
	uint64_t *counts = NULL;

	if (tree.published)
		counts = realloc(former, (tree.record.n_counters + 1) * sizeof *counts);
	if (!counts)
		free(former);
	for (unsigned i = 0; counts && i < tree.record.n_counters; i++)
		counts[i] = tree.record.counters[i].count;
	return counts;
}

bool perfevent_count(pmID pmid, unsigned inst, const uint64_t *counts, uint64_t *ret_count)
{
	const struct counter *metric = find_metric(pmid), *counter;

	if (!metric || inst >= tree.n_cpus)
		return false;
	counter = find_counter(metric->pmu, metric->event, tree.cpus[inst].cpu);
	if (!counter || !counter->offered)
		return false;
	*ret_count = counts ? counts[counter - tree.record.counters] : counter->count;
	return true;
}

static const char *help_for_bytes(bool one_line)
{
	if (one_line)
		return "bytes of the instance's socket, by uncored's own name for them";
	return "The bytes of a socket, by uncored's own name for them: dram_read is\n"
	       "uncore.dram.read. Each socket is the instance of one of its CPUs.\n"
	       "While uncored is away the last value stands here.";
}

static const char *help_for_counts(const struct counter *metric, bool one_line)
{
	static char text[1024];

	if (one_line)
		snprintf(text, sizeof text, "count of the event %s of PMU %s", metric->event,
			metric->pmu);
	else
		snprintf(text, sizeof text,
			"What the event %s of PMU %s has counted.\n"
			"It is counted for the socket of the instance's CPU.\n"
			"These are no bytes, whatever the event's name says: uncore.channel has "
			"those.\n"
			"While uncored is away the last count stands here.",
			metric->event, metric->pmu);
	return text;
}

const char *perfevent_help(pmID pmid, bool one_line)
{
	const struct counter *metric = find_metric(pmid);

	if (pmID_cluster(pmid) == UP_CLUSTER)
		return "1 if uncored answers, else 0: the other counts below perfevent stand "
		       "still then";
	if (!metric)
		return NULL;
	return counts_bytes(metric) ? help_for_bytes(one_line) : help_for_counts(metric, one_line);
}

unsigned perfevent_cpu(unsigned inst)
{
	return inst < tree.n_cpus ? tree.cpus[inst].cpu : 0;
}
