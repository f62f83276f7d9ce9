/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmda/numbers.h"

#include <string.h>

#include "common/page.h"
#include "pmda/instances.h"
#include "pmda/saved.h"

static const struct number shipped[] = {
#include "pmda/metric-numbers"
};
enum { N_SHIPPED = sizeof shipped / sizeof *shipped };

/* The site's. */
static struct number own[UNCORE_METRICS_MAX];
static unsigned n_own;

static pmdaNameSpace *names;

static unsigned numbers_count(void)
{
	return N_SHIPPED + n_own;
}

static const struct number *numbers_get(unsigned i)
{
	return i < N_SHIPPED ? &shipped[i] : &own[i - N_SHIPPED];
}

/* --- which metrics have a number --- */

static bool is_below(const char *name, const char *other)
{
	size_t length = strlen(other);

	return !strncmp(name, other, length) && name[length] == '.';
}

/* The metric that cannot be in one tree with @name: a node of PCP's tree is a metric, or has names
 * below it. NULL: there is none. */
static const char *find_clash(const char *name)
{
	for (unsigned i = 0; i < numbers_count(); i++)
		if (numbers_get(i)->cluster == METRIC_CLUSTER &&
			(is_below(name, numbers_get(i)->name) ||
				is_below(numbers_get(i)->name, name)))
			return numbers_get(i)->name;
	return NULL;
}

/* The unit in which PCP has the metric; NULL: it has no number yet. */
static const char *known_unit(const char *name)
{
	for (unsigned i = 0; i < N_SHIPPED; i++)
		if (!strcmp(shipped[i].name, name))
			return shipped[i].unit;
	return NULL;
}

/* Adds a metric that has no number yet. */
static void numbers_add(uint32_t pmid, const char *name, const char *unit)
{
	struct number *number = &own[n_own++];

	number->cluster = METRIC_CLUSTER;
	number->item = pmid;
	snprintf(number->name, sizeof number->name, "%s", name);
	snprintf(number->unit, sizeof number->unit, "%s", unit);
}

/* Adds a metric of uncored if PCP does not have it, or says in @refused why not. */
static void numbers_take(const struct uncore *handle, uint32_t metric, FILE *refused)
{
	uint32_t pmid = uncore_metric_pmid(handle, metric);
	const char *name = uncore_metric_name(handle, metric),
		   *unit = uncore_metric_unit(handle, metric), *known = known_unit(name),
		   *clash = find_clash(name), *comma = ftell(refused) ? ", " : "";

	if (known && !strcmp(known, unit))
		return;
	if (known)
		fprintf(refused, "%s%s (its unit is not %s)", comma, name, known);
	else if (pmid < PAGE_PMID_FIRST || pmid > PAGE_PMID_LAST)
		fprintf(refused, "%s%s (its section lacks pmid = %d to %d)", comma, name,
			PAGE_PMID_FIRST, PAGE_PMID_LAST);
	else if (clash)
		fprintf(refused, "%s%s (%s cannot be in one tree with it)", comma, name, clash);
	else
		numbers_add(pmid, name, unit);
}

/* Tells the log only what is new. */
static void numbers_tell(const char *refused)
{
	static char told[UNCORE_METRICS_MAX * 128];

	if (*refused && strcmp(refused, told))
		pmNotifyErr(LOG_WARNING,
			"PCP does not get these metrics of uncored's platform file: %s. See pmid "
			"in uncore-platform(5).",
			refused);
	snprintf(told, sizeof told, "%s", refused);
}

bool numbers_use(const struct view *view)
{
	struct number former[UNCORE_METRICS_MAX];
	unsigned n_former = n_own;
	char refused[UNCORE_METRICS_MAX * 128] = "";
	FILE *out = fmemopen(refused, sizeof refused, "w");

	memcpy(former, own, sizeof own);
	memset(own, 0, sizeof own);
	n_own = 0;
	for (uint32_t m = 0; out && m < view->reader.machine.n_metrics; m++)
		numbers_take(view->reader.handle, m, out);
	if (out)
		fclose(out);
	numbers_tell(refused);
	pmdaTreeRelease(names);
	names = NULL;
	return n_own != n_former || memcmp(own, former, sizeof own) != 0;
}

/* --- for the agent --- */

static pmUnits units_of(const char *unit)
{
	static const struct {
		const char *name;
		pmUnits units;
	} units[] = {
		{ "bytes", PMDA_PMUNITS(1, 0, 0, PM_SPACE_BYTE, 0, 0) },
		{ "ns", PMDA_PMUNITS(0, 1, 0, 0, PM_TIME_NSEC, 0) },
		{ "count", PMDA_PMUNITS(0, 0, 1, 0, 0, PM_COUNT_ONE) },
	};

	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (!strcmp(units[i].name, unit))
			return units[i].units;
	return (pmUnits){ 0 };
}

const pmdaMetric *numbers_metrics(int domain, unsigned *ret_n)
{
	static pmdaMetric metrics[N_SHIPPED + UNCORE_METRICS_MAX];

	for (unsigned i = 0; i < numbers_count(); i++)
		metrics[i].m_desc = (pmDesc){
			.pmid = pmID_build(domain, numbers_get(i)->cluster, numbers_get(i)->item),
			.type = PM_TYPE_U64,
			.indom = instances_indoms[SOCKETS_INDOM].it_indom,
			.sem = PM_SEM_COUNTER,
			.units = units_of(numbers_get(i)->unit),
		};
	*ret_n = numbers_count();
	return metrics;
}

const struct number *numbers_find(pmID pmid)
{
	for (unsigned i = 0; i < numbers_count(); i++)
		if (pmID_cluster(pmid) == numbers_get(i)->cluster &&
			pmID_item(pmid) == numbers_get(i)->item)
			return numbers_get(i);
	return NULL;
}

int numbers_value(
	const struct view *view, const struct number *number, unsigned socket, pmAtomValue *ret)
{
	int index = view_find(view, number->name, number->unit);
	const struct uncore_value *value;

	if (socket >= view->reader.machine.n_sockets)
		return PM_ERR_INST;
	if (index < 0)
		return PMDA_FETCH_NOVALUES;
	value = &view->readout.samples[socket].values[index];
	ret->ull = value->count;
	return value->quality & UNCORE_ABSENT ? PMDA_FETCH_NOVALUES : PMDA_FETCH_STATIC;
}

pmdaNameSpace *numbers_names(int domain)
{
	char name[sizeof "uncore.metric." + UNCORE_NAME_MAX];

	if (names || pmdaTreeCreate(&names) < 0)
		return names;
	for (unsigned i = 0; i < numbers_count(); i++) {
		if (numbers_get(i)->cluster != METRIC_CLUSTER)
			continue;
		snprintf(name, sizeof name, "uncore.metric.%s", numbers_get(i)->name);
		pmdaTreeInsert(names,
			pmID_build(domain, numbers_get(i)->cluster, numbers_get(i)->item), name);
	}
	pmdaTreeRebuildHash(names, (int)numbers_count());
	return names;
}

const char *numbers_help(pmID pmid, bool one_line)
{
	static char text[1024];
	const struct number *number = numbers_find(pmid);

	if (!number)
		return NULL;
	if (one_line)
		snprintf(text, sizeof text, "%s of the platform file (%s), per socket",
			number->name, number->unit);
	else
		snprintf(text, sizeof text,
			"The metric %s of uncored's platform file, in the unit %s, since uncored\n"
			"began to count. It is of the WHOLE SOCKET, of all programs together.\n"
			"\"uncore info\" says which counters it comes from.\n"
			"%s"
			"\nAbsent, which is not zero, where a machine does not have it; see\n"
			"uncore.quality_text.",
			number->name, number->unit,
			strncmp(number->name, "check.", 6)
				? ""
				: "A metric check.NAME counts the same as NAME by other "
				  "counters.\n");
	return text;
}
