/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmda/tree.h"

#include <stdlib.h>
#include <string.h>

#include "pmda/instances.h"
#include "pmda/sources.h"

struct tree the_tree;

/* --- counters --- */

static struct counter *tree_find_counter(const char *pmu, const char *event, unsigned cpu)
{
	for (unsigned i = 0; i < the_tree.saved.n_counters; i++) {
		struct counter *counter = &the_tree.saved.counters[i];

		if (counter->cpu == cpu && !strcmp(counter->pmu, pmu) &&
			!strcmp(counter->event, event))
			return counter;
	}
	return NULL;
}

/* A metric's number never changes: a PMU is a cluster, and later metrics get higher numbers. */
static void give_number(struct counter *counter)
{
	unsigned next_cluster = PERFEVENT_FIRST_CLUSTER, next_item = 0;

	counter->cluster = 0;
	for (unsigned i = 0; i < the_tree.saved.n_counters; i++) {
		const struct counter *other = &the_tree.saved.counters[i];

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
	the_tree.saved.counters[the_tree.saved.n_counters++] = counter;
}

/* The counter of @source on the CPU where it was counted before. */
static struct counter *find_same(const struct source *source)
{
	return tree_find_counter(source->pmu, source->event, source->cpu);
}

/*
 * A counter on the same socket whose own CPU has no such source any more. The kernel moves a box to
 * another CPU when its CPU goes offline, but PAPI identifies an instance by its position in a list,
 * so the instance stays.
 */
static struct counter *find_moved(const struct source *source)
{
	for (unsigned i = 0; i < the_tree.saved.n_counters; i++) {
		struct counter *counter = &the_tree.saved.counters[i];

		if (counter->source < 0 && counter->socket == source->socket &&
			!strcmp(counter->pmu, source->pmu) &&
			!strcmp(counter->event, source->event))
			return counter;
	}
	return NULL;
}

/* New counters are added only until the tree is published. */
static struct counter *add_new(const struct source *source)
{
	if (the_tree.published)
		return NULL;
	add_counter(source);
	return &the_tree.saved.counters[the_tree.saved.n_counters - 1];
}

static bool is_found(unsigned source)
{
	for (unsigned i = 0; i < the_tree.saved.n_counters; i++)
		if (the_tree.saved.counters[i].source == (int)source)
			return true;
	return false;
}

/* Finds the sources of a new connection. Each way is tried on all sources that are not found
 * yet. */
static void find_sources(const struct view *view)
{
	static struct counter *(*const ways[])(
		const struct source *) = { find_same, find_moved, add_new };
	struct source source;

	for (unsigned i = 0; i < the_tree.saved.n_counters; i++)
		the_tree.saved.counters[i].source = -1;
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

/* Drops counters that this machine does not have: the record is of another machine. */
static void forget_ghosts(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < the_tree.saved.n_counters; i++)
		if (the_tree.saved.counters[i].source >= 0)
			the_tree.saved.counters[n++] = the_tree.saved.counters[i];
	the_tree.saved.n_counters = n;
}

/* --- following uncored --- */

/* If the agent and uncored are killed together, no more than a minute's counts are lost. */
static void tree_save(const struct view *view)
{
	saved_save(&the_tree.saved);
	the_tree.saved_ns = view->now_ns;
	the_tree.unsaved = false;
}

/* uncored was restarted, or the agent was: sources may have other numbers, and may count from 0. */
static void tree_follow(const struct view *view)
{
	struct saved *saved = &the_tree.saved;
	bool same = !memcmp(
		saved->generation, view->reader.machine.generation, sizeof saved->generation);

	if (the_tree.n_connections == view->reader.n_connections)
		return;
	for (unsigned i = 0; i < saved->n_counters && !same; i++)
		saved->counters[i].base = saved->counters[i].count;
	find_sources(view);
	if (!same && !the_tree.published)
		forget_ghosts();
	memcpy(saved->generation, view->reader.machine.generation, sizeof saved->generation);
	the_tree.n_connections = view->reader.n_connections;
	tree_save(view);
}

/* Everybody may read the file, and so the counts, only if everybody may read from uncored. */
static void follow_rules(const struct view *view)
{
	static const struct uncore_user unknown = { UNCORE_UNKNOWN_USER, UNCORE_UNKNOWN_USER, 0,
		NULL };
	bool is_public = view_admits(view, &unknown) == ADMITTED;

	if (!view->is_current || is_public == the_tree.saved.is_public)
		return;
	the_tree.saved.is_public = is_public;
	tree_save(view);
}

static void take_count(struct counter *counter, const struct view *view)
{
	uint64_t bytes, count;

	if (!sources_bytes(view, (unsigned)counter->source, &bytes))
		return;
	count = counter->base + bytes / counter->bytes;
	if (!the_tree.published)
		counter->offered = true;
	if (count > counter->count)
		counter->count = count;
}

static void take_counts(const struct view *view)
{
	for (unsigned i = 0; i < the_tree.saved.n_counters; i++)
		if (the_tree.saved.counters[i].source >= 0)
			take_count(&the_tree.saved.counters[i], view);
	the_tree.unsaved = true;
	if (view->now_ns - the_tree.saved_ns >= SAVED_EVERY_S * UINT64_C(1000000000))
		tree_save(view);
}

/* --- publishing, once --- */

static int compare_cpus(const void *a, const void *b)
{
	unsigned x = ((const struct tree_cpu *)a)->cpu, y = ((const struct tree_cpu *)b)->cpu;

	return x < y ? -1 : x > y;
}

static int tree_find_cpu(unsigned cpu)
{
	for (unsigned i = 0; i < the_tree.n_cpus; i++)
		if (the_tree.cpus[i].cpu == cpu)
			return (int)i;
	return -1;
}

static void tree_add_cpus(void)
{
	for (unsigned i = 0; i < the_tree.saved.n_counters; i++) {
		const struct counter *counter = &the_tree.saved.counters[i];

		if (counter->offered && tree_find_cpu(counter->cpu) < 0)
			the_tree.cpus[the_tree.n_cpus++].cpu = counter->cpu;
	}
	qsort(the_tree.cpus, the_tree.n_cpus, sizeof *the_tree.cpus, compare_cpus);
	for (unsigned i = 0; i < the_tree.n_cpus; i++) {
		struct tree_cpu *cpu = &the_tree.cpus[i];

		snprintf(cpu->name, sizeof cpu->name, "cpu%u", cpu->cpu);
		the_tree.set[i] = (pmdaInstid){ (int)i, cpu->name };
	}
	instances_indoms[CPUS_INDOM].it_numinst = (int)the_tree.n_cpus;
	instances_indoms[CPUS_INDOM].it_set = the_tree.set;
}

bool tree_is_first(const struct counter *counter)
{
	if (!counter->offered)
		return false;
	for (const struct counter *c = the_tree.saved.counters; c < counter; c++)
		if (c->offered && c->cluster == counter->cluster && c->item == counter->item)
			return false;
	return true;
}

static bool anything_offered(void)
{
	for (unsigned i = 0; i < the_tree.saved.n_counters; i++)
		if (the_tree.saved.counters[i].offered)
			return true;
	return false;
}

static void publish(void)
{
	unsigned n = the_tree.saved.n_counters;

	if (the_tree.published || !anything_offered())
		return;
	the_tree.cpus = calloc(n, sizeof *the_tree.cpus);
	the_tree.set = calloc(n, sizeof *the_tree.set);
	the_tree.metrics = calloc(n, sizeof *the_tree.metrics);
	if (the_tree.cpus && the_tree.set && the_tree.metrics &&
		pmdaTreeCreate(&the_tree.names) >= 0) {
		tree_add_cpus();
		the_tree.published = true;
		return;
	}
	free(the_tree.cpus);
	free(the_tree.set);
	free(the_tree.metrics);
}

static bool tree_load(const struct view *view)
{
	if (the_tree.published ||
		(the_tree.loaded && the_tree.n_connections == view->reader.n_connections))
		return true;
	free(the_tree.saved.counters);
	the_tree.loaded = saved_load(&the_tree.saved, sources_count(view)) == 0;
	the_tree.n_connections = 0;
	return the_tree.loaded;
}

void tree_update(const struct view *view)
{
	if (!tree_load(view))
		return;
	follow_rules(view);
	if (view->has_channels) {
		tree_follow(view);
		take_counts(view);
	} else if (!view->is_current) {
		tree_end();
	}
	publish();
}

void tree_end(void)
{
	if (the_tree.unsaved)
		saved_save(&the_tree.saved);
	the_tree.unsaved = false;
}

const struct counter *tree_find(const struct counter *metric, unsigned cpu)
{
	return tree_find_counter(metric->pmu, metric->event, cpu);
}
