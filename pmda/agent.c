/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmda/agent.h"

#include <stdlib.h>
#include <string.h>

#include "pmda/contexts.h"
#include "pmda/instances.h"
#include "pmda/jobs.h"
#include "pmda/labels.h"
#include "pmda/metrics.h"
#include "pmda/numbers.h"
#include "pmda/perfevent.h"
#include "pmda/tree.h"
#include "pmda/view.h"

/* Since PCP 7 pmResult has a finer clock. An agent's result has the former layout, under another
 * name. */
#ifndef pmdaResult
#define pmdaResult pmResult
#endif

/* A traversal asks for many names: one snapshot is fresh enough for all names within this time. */
static const uint64_t NAMES_FRESH_NS = 20000000;

static struct view view;
static bool perfevent_wanted; /* a client has asked about the tree below perfevent */

/* --- the table of metrics --- */

struct metrics {
	const pmdaMetric *first;
	unsigned n;
};

/* Those below perfevent join once, when they are known. True: they have. */
static bool agent_serve(pmdaExt *pmda)
{
	static pmdaMetric *served;
	struct metrics parts[] = { { metrics_table, metrics_n }, { 0 }, { 0 } };
	pmdaMetric *table, *next;

	parts[1].first = numbers_metrics(pmda->e_domain, &parts[1].n);
	parts[2].first = perfevent_metrics(pmda->e_domain, &parts[2].n);
	table = next = calloc(parts[0].n + parts[1].n + parts[2].n, sizeof *table);
	if (!table)
		return false;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; next += parts[i++].n)
		if (parts[i].n)
			memcpy(next, parts[i].first, parts[i].n * sizeof *table);
	pmdaRehash(pmda, table, (int)(next - table));
	free(served);
	served = table;
	return parts[2].n > 0;
}

/* --- keeping up with uncored --- */

/* A new connection may be to another machine, or to a machine with fewer boxes. A fetch of PAPI
 * fails if names change, so a client of perfevent is not told. */
static void follow_connection(pmdaExt *pmda)
{
	static unsigned followed;

	if (followed == view.reader.n_connections || !view.reader.handle)
		return;
	instances_make(&view);
	if (numbers_use(&view) && !perfevent_wanted)
		pmdaExtSetFlags(pmda, PMDA_EXT_NAMES_CHANGE);
	agent_serve(pmda);
	followed = view.reader.n_connections;
}

static void take_snapshot(pmdaExt *pmda, bool with_channels)
{
	view_refresh(&view, with_channels);
	follow_connection(pmda);
	if (perfevent_wanted)
		tree_update(&view);
}

/*
 * The metrics below perfevent join the table once, when they are known. A client that knows their
 * numbers from before a restart of the agent does not ask for their names first, so every question
 * that may be about these metrics comes here.
 */
static void join_perfevent(pmdaExt *pmda)
{
	static bool joined;

	if (joined)
		return;
	perfevent_wanted = true;
	take_snapshot(pmda, true);
	joined = agent_serve(pmda);
}

/* Names that are known from before a restart of the agent are asked for likewise. */
static pmdaNameSpace *metric_tree(pmdaExt *pmda)
{
	if (view_age_ns(&view) > NAMES_FRESH_NS)
		take_snapshot(pmda, false);
	return numbers_names(pmda->e_domain);
}

/* Keeps the counts that the client was told: if it is refused later, it still gets these. */
static void note_told(struct context *context)
{
	if (context->admission == REFUSED)
		return;
	context->knows_names = true;
	if (context->admission == ADMITTED)
		context->told = perfevent_copy_counts(context->told);
}

/* False if the rules have changed: uncored then ends the connection that they were read from. */
static bool is_reviewed(struct context *context)
{
	return context && contexts_review(context, &view) != UNDECIDED;
}

/*
 * A program that starts while uncored is away, or that the policy does not admit, gets no names:
 * with names it would count nothing and not notice. A program that has names keeps them, because
 * PAPI crashes when it loses them.
 */
static pmdaNameSpace *perfevent_tree(pmdaExt *pmda)
{
	struct context *context = contexts_find(pmda->e_context);
	bool is_told;

	join_perfevent(pmda);
	if (view_age_ns(&view) > NAMES_FRESH_NS || !is_reviewed(context))
		take_snapshot(pmda, false);
	is_told = context && contexts_review(context, &view) == ADMITTED;
	if (is_told)
		note_told(context);
	return is_told || (context && context->knows_names) ? perfevent_names(pmda->e_domain)
							    : NULL;
}

static bool is_perfevent(pmID pmid)
{
	return pmID_cluster(pmid) >= PERFEVENT_FIRST_CLUSTER || pmID_cluster(pmid) == UP_CLUSTER;
}

/* --- callbacks of pmcd --- */

static bool any_of(int n_pmids, const pmID pmids[], bool (*is_it)(pmID pmid))
{
	for (int i = 0; i < n_pmids; i++)
		if (is_it(pmids[i]))
			return true;
	return false;
}

static bool is_below_metric(pmID pmid)
{
	return pmID_cluster(pmid) == METRIC_CLUSTER;
}

static bool needs_channels(pmID pmid)
{
	return pmID_cluster(pmid) == CHANNEL_CLUSTER || is_perfevent(pmid);
}

static bool agent_is_job(pmID pmid)
{
	return pmID_cluster(pmid) == JOB_CLUSTER;
}

/*
 * There are no instances if uncored has never answered, or for jobs, if no job is open. For metrics
 * without instances pmdaFetch() finds no values, so the error is set here.
 */
static void say_why_none(pmdaResult *result)
{
	for (int i = 0; i < result->numpmid; i++) {
		pmValueSet *values = result->vset[i];

		if (values->numval != 0 || is_perfevent(values->pmid))
			continue;
		if (agent_is_job(values->pmid) || !view.is_current)
			values->numval = metrics_may_tell();
	}
}

/* Looks at jobs first, so that each of them began before the snapshot. */
static struct context *agent_look(pmdaExt *pmda, bool with_channels, bool with_jobs)
{
	struct context *context = contexts_find(pmda->e_context);

	if (with_jobs)
		jobs_look();
	take_snapshot(pmda, with_channels);
	if (context)
		contexts_review(context, &view);
	if (with_jobs)
		jobs_offer(context, &view);
	return context;
}

static int on_fetch(int n_pmids, pmID pmids[], pmdaResult **ret, pmdaExt *pmda)
{
	bool of_perfevent = any_of(n_pmids, pmids, is_perfevent);
	struct context *context;
	int sts;

	if (of_perfevent)
		join_perfevent(pmda);
	context = agent_look(
		pmda, any_of(n_pmids, pmids, needs_channels), any_of(n_pmids, pmids, agent_is_job));
	metrics_answer(context);
	sts = pmdaFetch(n_pmids, pmids, ret, pmda);
	if (of_perfevent && context)
		note_told(context);
	if (sts >= 0)
		say_why_none(*ret);
	return sts;
}

static int on_value(pmdaMetric *metric, unsigned inst, pmAtomValue *ret)
{
	const struct number *number = numbers_find(metric->m_desc.pmid);
	int sts;

	if (!number)
		return metrics_value(metric, inst, ret);
	sts = metrics_may_tell();
	return sts < 0 ? sts : numbers_value(&view, number, inst, ret);
}

static int on_attribute(int context, int attribute, const char *value, int length, pmdaExt *pmda)
{
	contexts_learn(context, attribute, value);
	return pmdaAttribute(context, attribute, value, length, pmda);
}

static int on_instance(pmInDom indom, int inst, char *name, pmInResult **ret, pmdaExt *pmda)
{
	if (pmInDom_serial(indom) == CPUS_INDOM)
		join_perfevent(pmda);
	else /* uncored may have been replaced since the last fetch */
		agent_look(pmda, false, pmInDom_serial(indom) == JOBS_INDOM);
	return pmdaInstance(indom, inst, name, ret, pmda);
}

static int on_desc(pmID pmid, pmDesc *ret, pmdaExt *pmda)
{
	if (is_perfevent(pmid))
		join_perfevent(pmda);
	else if (is_below_metric(pmid))
		metric_tree(pmda);
	return pmdaDesc(pmid, ret, pmda);
}

static int on_text(int ident, int type, char **ret, pmdaExt *pmda)
{
	if (type & PM_TEXT_PMID && is_perfevent((pmID)ident)) {
		join_perfevent(pmda);
		*ret = (char *)perfevent_help((pmID)ident, type & PM_TEXT_ONELINE);
		return *ret ? 0 : PM_ERR_TEXT;
	}
	if (type & PM_TEXT_PMID && is_below_metric((pmID)ident)) {
		metric_tree(pmda);
		*ret = (char *)numbers_help((pmID)ident, type & PM_TEXT_ONELINE);
		return *ret ? 0 : PM_ERR_TEXT;
	}
	return pmdaText(ident, type, ret, pmda);
}

static int on_label(int ident, int type, pmLabelSet **ret, pmdaExt *pmda)
{
	unsigned serial = type & PM_LABEL_INSTANCES ? pmInDom_serial((pmInDom)ident) : N_INDOMS;
	int sts;

	if (serial == CPUS_INDOM)
		join_perfevent(pmda);
	else
		agent_look(pmda, false, serial == JOBS_INDOM);
	sts = labels_add(ident, type, view.reader.platform, ret);
	return sts < 0 ? sts : pmdaLabel(ident, type, ret, pmda);
}

/* Which tree has @name? */
static pmdaNameSpace *tree_of(const char *name, pmdaExt *pmda)
{
	return strncmp(name, "perfevent", strlen("perfevent")) ? metric_tree(pmda)
							       : perfevent_tree(pmda);
}

static int on_pmid(const char *name, pmID *ret, pmdaExt *pmda)
{
	pmdaNameSpace *tree = tree_of(name, pmda);

	return tree ? pmdaTreePMID(tree, name, ret) : PM_ERR_NAME;
}

static int on_name(pmID pmid, char ***ret, pmdaExt *pmda)
{
	pmdaNameSpace *tree = is_perfevent(pmid) ? perfevent_tree(pmda) : metric_tree(pmda);

	return tree ? pmdaTreeName(tree, pmid, ret) : PM_ERR_PMID;
}

static int on_children(const char *name, int flags, char ***ret, int **ret_status, pmdaExt *pmda)
{
	pmdaNameSpace *tree = tree_of(name, pmda);

	return tree ? pmdaTreeChildren(tree, name, flags, ret, ret_status) : PM_ERR_NAME;
}

/* --- start and end --- */

const char *agent_help_path(void)
{
	static char path[MAXPATHLEN];

	snprintf(path, sizeof path, "%s/uncore/help", pmGetConfig("PCP_PMDAS_DIR"));
	return path;
}

/* pmcd unloads the shared object when it reads its configuration again. */
__attribute__((destructor)) static void end(void)
{
	tree_end();
	jobs_done();
	contexts_done();
	view_done(&view);
}

void agent_start(pmdaInterface *interface, const char *socket_path, bool is_brief)
{
	if (interface->status != 0)
		return;
	view.reader.socket_path = socket_path;
	view.is_brief = is_brief;
	interface->version.seven.fetch = on_fetch;
	interface->version.seven.instance = on_instance;
	interface->version.seven.desc = on_desc;
	interface->version.seven.text = on_text;
	interface->version.seven.label = on_label;
	interface->version.seven.pmid = on_pmid;
	interface->version.seven.name = on_name;
	interface->version.seven.children = on_children;
	interface->version.seven.attribute = on_attribute;
	pmdaSetEndContextCallBack(interface, contexts_end);
	pmdaSetFetchCallBack(interface, on_value);
	pmdaSetLabelCallBack(interface, labels_of_instance);
	pmdaSetFlags(interface, PMDA_EXT_FLAG_HASHED);
	pmdaSetCommFlags(interface, PMDA_FLAG_AUTHORIZE);
	metrics_use(&view);
	pmdaInit(interface, instances_indoms, N_INDOMS, metrics_table, (int)metrics_n);
	agent_serve(interface->version.any.ext);
}
