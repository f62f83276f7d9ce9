/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmda/perfevent.h"

#include <stdlib.h>
#include <string.h>

#include "pmda/instances.h"
#include "pmda/tree.h"

static pmID pmid_of(int domain, const struct counter *counter)
{
	return pmID_build(domain, counter->cluster, counter->item);
}

static bool counts_bytes(const struct counter *counter)
{
	return !strcmp(counter->pmu, "uncored");
}

static pmDesc perfevent_describe(int domain, const struct counter *counter)
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

	for (unsigned i = 0; the_tree.published && i < the_tree.saved.n_counters; i++)
		if (tree_is_first(&the_tree.saved.counters[i]))
			the_tree.metrics[n++].m_desc =
				perfevent_describe(domain, &the_tree.saved.counters[i]);
	*ret_n = n;
	return n ? the_tree.metrics : NULL;
}

/* As in the stock agent, a character that names may not have becomes an underscore. */
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

	/* PAPI requires that a name with its instance is shorter than 128 bytes. */
	_Static_assert(sizeof name + sizeof ":cpu4294967295" < 128, "names");
	/* A name of libpfm4 is one word: "bdx_unc_imc0::UNC_M_CAS_COUNT:RD". */
	snprintf(name, sizeof name, "perfevent.hwcounters.%s%s%s.value", counter->pmu,
		counter->event[0] == ':' ? "" : ".", counter->event);
	normalise(name);
	pmdaTreeInsert(the_tree.names, pmid_of(domain, counter), name);
}

/* Says whether uncored answers, as a metric that PAPI can add to an event set with others. */
static void insert_up(int domain)
{
	pmdaTreeInsert(the_tree.names, pmID_build(domain, UP_CLUSTER, 0), "perfevent.uncored.up");
}

pmdaNameSpace *perfevent_names(int domain)
{
	static bool filled;
	unsigned n = 0;

	if (!the_tree.published || filled)
		return the_tree.names;
	for (unsigned i = 0; i < the_tree.saved.n_counters; i++)
		if (tree_is_first(&the_tree.saved.counters[i])) {
			insert_name(domain, &the_tree.saved.counters[i]);
			n++;
		}
	insert_up(domain);
	pmdaTreeRebuildHash(the_tree.names, (int)n + 1);
	filled = true;
	return the_tree.names;
}

static const struct counter *perfevent_find_metric(pmID pmid)
{
	for (unsigned i = 0; i < the_tree.saved.n_counters; i++)
		if (the_tree.saved.counters[i].cluster == pmID_cluster(pmid) &&
			the_tree.saved.counters[i].item == pmID_item(pmid))
			return &the_tree.saved.counters[i];
	return NULL;
}

uint64_t *perfevent_copy_counts(uint64_t *former)
{
	uint64_t *counts = NULL;

	if (the_tree.published)
		counts = realloc(former, (the_tree.saved.n_counters + 1) * sizeof *counts);
	if (!counts)
		free(former);
	for (unsigned i = 0; counts && i < the_tree.saved.n_counters; i++)
		counts[i] = the_tree.saved.counters[i].count;
	return counts;
}

/* @counts: of perfevent_copy_counts(), or NULL for the present count. */
static bool find_count(pmID pmid, unsigned inst, const uint64_t *counts, uint64_t *ret_count)
{
	const struct counter *metric = perfevent_find_metric(pmid), *counter;

	if (!metric || inst >= the_tree.n_cpus)
		return false;
	counter = tree_find(metric, the_tree.cpus[inst].cpu);
	if (!counter || !counter->offered)
		return false;
	*ret_count = counts ? counts[counter - the_tree.saved.counters] : counter->count;
	return true;
}

int perfevent_value(const struct context *reader, pmID pmid, unsigned inst, pmAtomValue *ret)
{
	enum admission admission = reader ? reader->admission : REFUSED;
	const uint64_t *told = reader ? reader->told : NULL;
	bool is_live = admission == ADMITTED ||
		       (!told && admission == UNDECIDED && the_tree.saved.is_public);

	if (!find_count(pmid, inst, is_live ? NULL : told, &ret->ull))
		return PMDA_FETCH_NOVALUES;
	if (!is_live && !told)
		ret->ull = 0;
	return PMDA_FETCH_STATIC;
}

static const char *help_for_bytes(bool one_line)
{
	return one_line ? "bytes of the instance's socket, by uncored's own name for them"
			: "The bytes of a socket, by uncored's own name for them: dram_read is\n"
			  "uncore.dram.read. Each socket is the instance of one of its CPUs.\n"
			  "While uncored is away the last value stands here.";
}

static const char *help_for_counts(const struct counter *metric, bool one_line)
{
	static char text[1024];

	snprintf(text, sizeof text,
		one_line ? "count of the event %s of PMU %s"
			 : "Counts of the event %s of PMU %s.\n"
			   "They are of the socket of the instance's CPU.\n"
			   "They are not bytes, whatever the event's name says: uncore.channel has "
			   "the bytes.\n"
			   "While uncored is away the last count stands here.",
		metric->event, metric->pmu);
	return text;
}

const char *perfevent_help(pmID pmid, bool one_line)
{
	const struct counter *metric = perfevent_find_metric(pmid);

	if (pmID_cluster(pmid) == UP_CLUSTER)
		return "1 if uncored answers, else 0: the other counts below perfevent stand "
		       "still then";
	if (!metric)
		return NULL;
	return counts_bytes(metric) ? help_for_bytes(one_line) : help_for_counts(metric, one_line);
}

unsigned perfevent_cpu(unsigned inst)
{
	return inst < the_tree.n_cpus ? the_tree.cpus[inst].cpu : 0;
}
