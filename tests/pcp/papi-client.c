/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * papi-client init | papi-client read N INTERVAL_MS
 *
 * Makes the calls of PAPI's pcp component to libpcp, in its order, and judges each answer as that
 * component would take it (src/components/pcp/linux-pcp.c of 2026). init makes the calls of
 * PAPI_library_init; read makes these, then PAPI_start of an event set with every event, and N
 * times PAPI_read. SIGTERM ends the reads early.
 *
 * Lines on stdout:
 *	metric NAME TYPE SEMANTICS UNITS
 *	dropped NAME                    PAPI leaves it out, without a word
 *	event NAME VALUE
 *	start | read I DELTA...         in the order of the events
 *	survivable read I: WHY          this PAPI_read fails or repeats the values of the last;
 *	                                the next may not
 *	done N_GOOD N_SURVIVABLE
 *	disabled | fatal | wrong: WHY   and the exit status of enum outcome
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pcp/pmapi.h>

/* The sizes of PAPI's buffers and blocks. */
enum { NAME_BYTES = 128, LOOKUP_BLOCK = 256 };

enum outcome {
	GOOD = 0,
	DISABLED = 3, /* no events of this component; the program goes on */
	FATAL = 4,    /* the program crashes or exits */
	WRONG = 5, /* the program gets wrong values, or an event by a wrong name, without a word */
};

/* All values of a metric in one fetch. The component tells them apart by position alone. */
struct metric {
	char *name;
	pmID pmid;
	pmDesc desc;
	int n_values;
	int valfmt;
	int *instances;
	uint64_t *zero; /* values at the last good start */
	uint64_t *last;
};

struct instances {
	pmInDom indom;
	int n;
	int *ids;
	char **names;
};

static struct metric *metrics;
static int n_metrics;
static volatile sig_atomic_t stopped;

__attribute__((noreturn, format(printf, 2, 3))) static void verdict(
	enum outcome outcome, const char *format, ...)
{
	va_list args;

	printf("%s: ", outcome == DISABLED ? "disabled" : outcome == FATAL ? "fatal" : "wrong");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	exit(outcome);
}

static void *allocated(size_t n, size_t size)
{
	void *memory = calloc(n ? n : 1, size);

	if (!memory)
		err(1, "calloc");
	return memory;
}

/* --- init --- */

static void add_metric(const char *name)
{
	if (strlen(name) >= NAME_BYTES)
		verdict(WRONG, "the name %s is cut to %d characters", name, NAME_BYTES - 1);
	metrics = reallocarray(metrics, (size_t)n_metrics + 1, sizeof *metrics);
	if (!metrics)
		err(1, "reallocarray");
	metrics[n_metrics++] = (struct metric){ .name = strdup(name), .pmid = PM_ID_NULL };
}

static void find_names(void)
{
	int r = pmTraversePMNS("perfevent", add_metric);

	if (r < 0)
		verdict(DISABLED, "pmTraversePMNS: %s", pmErrStr(r));
	if (n_metrics == 0)
		verdict(DISABLED, "there are no names below perfevent");
}

static void look_up_names(void)
{
	const char *names[LOOKUP_BLOCK];
	pmID pmids[LOOKUP_BLOCK];
	int n, r;

	for (int first = 0; first < n_metrics; first += n) {
		n = n_metrics - first < LOOKUP_BLOCK ? n_metrics - first : LOOKUP_BLOCK;
		for (int i = 0; i < n; i++)
			names[i] = metrics[first + i].name;
		r = pmLookupName(n, names, pmids);
		if (r < 0)
			verdict(DISABLED, "pmLookupName: %s", pmErrStr(r));
		for (int i = 0; i < n; i++)
			metrics[first + i].pmid = pmids[i];
	}
}

/* Fetches all metrics; the caller frees the result. Returns what pmFetch returned. */
static int fetch(pmResult **ret_result)
{
	pmID *pmids = allocated((size_t)n_metrics, sizeof *pmids);
	int r;

	for (int i = 0; i < n_metrics; i++)
		pmids[i] = metrics[i].pmid;
	r = pmFetch(n_metrics, pmids, ret_result);
	free(pmids);
	return r;
}

static void look_up_desc(struct metric *m)
{
	char units[64];
	int r = pmLookupDesc(m->pmid, &m->desc);

	if (r != 0)
		verdict(FATAL, "pmLookupDesc of %s: %s", m->name, pmErrStr(r));
	printf("metric %s %s %s %s\n", m->name, pmTypeStr(m->desc.type),
		m->desc.sem == PM_SEM_COUNTER ? "counter" : "level",
		pmUnitsStr_r(&m->desc.units, units, sizeof units));
}

/* Does the metric become an event? Strings and the like do not. */
static bool accept_type(const struct metric *m, const pmValueSet *set)
{
	if (set->valfmt == PM_VAL_INSITU) {
		if (m->desc.type != PM_TYPE_32)
			verdict(WRONG,
				"%s of type %s comes in place, and is taken for a signed number",
				m->name, pmTypeStr(m->desc.type));
		return true;
	}
	if (set->vlist[0].value.pval->vtype != m->desc.type)
		verdict(DISABLED, "%s has values of another type than %s", m->name,
			pmTypeStr(m->desc.type));
	switch (m->desc.type) {
	case PM_TYPE_64:
	case PM_TYPE_U64:
	case PM_TYPE_FLOAT:
	case PM_TYPE_DOUBLE:
		return true;
	default:
		return false;
	}
}

static uint64_t value_at(const pmValueSet *set, int position)
{
	const pmValueBlock *block = set->vlist[position].value.pval;
	float in_float;
	double as_double;
	uint64_t value = 0;

	if (set->valfmt == PM_VAL_INSITU)
		return (uint64_t)(int64_t)set->vlist[position].value.lval;
	if (block->vtype != PM_TYPE_FLOAT) {
		memcpy(&value, block->vbuf, sizeof value);
		return value;
	}
	memcpy(&in_float, block->vbuf, sizeof in_float);
	as_double = in_float;
	memcpy(&value, &as_double, sizeof value);
	return value;
}

/* Once per instance domain, and kept for ever. */
static const struct instances *instances_of(pmInDom indom)
{
	static struct instances *known;
	static int n_known;
	struct instances *found;

	for (int i = 0; i < n_known; i++)
		if (known[i].indom == indom)
			return &known[i];
	known = reallocarray(known, (size_t)n_known + 1, sizeof *known);
	if (!known)
		err(1, "reallocarray");
	found = &known[n_known++];
	found->indom = indom;
	found->n = pmGetInDom(indom, &found->ids, &found->names);
	if (found->n < 0)
		verdict(FATAL, "pmGetInDom of %s: %s", pmInDomStr(indom), pmErrStr(found->n));
	for (int i = 0; i < found->n; i++)
		if (!found->names[i][0] || strlen(found->names[i]) >= NAME_BYTES)
			verdict(FATAL, "instance %d of %s has the name '%s'", found->ids[i],
				pmInDomStr(indom), found->names[i]);
	return found;
}

static const char *instance_name(pmInDom indom, int id)
{
	const struct instances *all = instances_of(indom);

	for (int i = 0; i < all->n; i++)
		if (all->ids[i] == id)
			return all->names[i];
	verdict(FATAL, "there is a value for instance %d of %s, which pmGetInDom does not know", id,
		pmInDomStr(indom));
}

/* The name of a single value is the metric's alone, even if there is an instance. */
static void print_event(const struct metric *m, int position)
{
	const char *instance;

	if (m->n_values == 1) {
		printf("event %s %" PRIu64 "\n", m->name, m->zero[position]);
		return;
	}
	instance = instance_name(m->desc.indom, m->instances[position]);
	if (strlen(m->name) + 1 + strlen(instance) >= NAME_BYTES)
		verdict(WRONG, "the name %s:%s is cut to %d characters", m->name, instance,
			NAME_BYTES - 1);
	printf("event %s:%s %" PRIu64 "\n", m->name, instance, m->zero[position]);
}

static void take_values(struct metric *m, const pmValueSet *set)
{
	m->n_values = set->numval;
	m->valfmt = set->valfmt;
	m->instances = allocated((size_t)m->n_values, sizeof *m->instances);
	m->zero = allocated((size_t)m->n_values, sizeof *m->zero);
	m->last = allocated((size_t)m->n_values, sizeof *m->last);
	for (int i = 0; i < m->n_values; i++) {
		m->instances[i] = set->vlist[i].inst;
		m->zero[i] = m->last[i] = value_at(set, i);
	}
}

static void make_events(struct metric *m, const pmValueSet *set)
{
	if (set->numval < 0)
		verdict(FATAL, "%s: %s", m->name, pmErrStr(set->numval));
	if (set->numval > 0)
		look_up_desc(m);
	if (set->numval == 0 || !accept_type(m, set)) {
		printf("dropped %s\n", m->name);
		return;
	}
	if (set->numval > 1 && m->desc.indom == PM_INDOM_NULL)
		verdict(WRONG, "%s has %d values and no instances", m->name, set->numval);
	take_values(m, set);
	for (int i = 0; i < m->n_values; i++)
		print_event(m, i);
}

static void forget_dropped_metrics(void)
{
	int n = 0;

	for (int i = 0; i < n_metrics; i++)
		if (metrics[i].n_values > 0)
			metrics[n++] = metrics[i];
		else
			free(metrics[i].name);
	n_metrics = n;
	if (n == 0)
		verdict(DISABLED, "no metric below perfevent has a value");
}

static void init(void)
{
	int r = pmNewContext(PM_CONTEXT_HOST, "local:");
	pmResult *all;

	if (r < 0)
		verdict(DISABLED, "pmNewContext: %s", pmErrStr(r));
	find_names();
	look_up_names();
	r = fetch(&all);
	if (r < 0)
		verdict(DISABLED, "the first pmFetch: %s", pmErrStr(r));
	if (r > 0)
		verdict(DISABLED, "the first pmFetch returned %d: an agent has come or gone", r);
	for (int i = 0; i < n_metrics; i++)
		make_events(&metrics[i], all->vset[i]);
	pmFreeResult(all);
	forget_dropped_metrics();
}

/* --- read --- */

static void check_set(const struct metric *m, const pmValueSet *set)
{
	if (set->pmid != m->pmid)
		verdict(WRONG, "%s got the values of another metric", m->name);
	if (set->numval < 0)
		verdict(FATAL, "%s: %s", m->name, pmErrStr(set->numval));
	if (set->numval < m->n_values)
		verdict(FATAL, "%s has %d values, and had %d", m->name, set->numval, m->n_values);
	if (set->numval > m->n_values)
		verdict(WRONG, "%s has %d values, and had %d", m->name, set->numval, m->n_values);
	if (set->valfmt != m->valfmt ||
		(set->valfmt != PM_VAL_INSITU && set->vlist[0].value.pval->vtype != m->desc.type))
		verdict(WRONG, "%s has values of another type than before", m->name);
	for (int i = 0; i < m->n_values; i++)
		if (set->vlist[i].inst != m->instances[i])
			verdict(WRONG, "value %d of %s is that of instance %d, and was that of %d",
				i, m->name, set->vlist[i].inst, m->instances[i]);
}

static void take_value(struct metric *m, int position, uint64_t value)
{
	if (m->desc.sem == PM_SEM_COUNTER && value < m->last[position])
		verdict(WRONG, "value %d of %s went back from %" PRIu64 " to %" PRIu64, position,
			m->name, m->last[position], value);
	m->last[position] = value;
}

/* One PAPI_read. Returns why it failed, or NULL. */
static const char *read_all(void)
{
	static char changes[64];
	pmResult *all = NULL;
	int r = fetch(&all);

	if (r < 0)
		return pmErrStr(r);
	if (r > 0) {
		pmFreeResult(all); /* PAPI leaks it */
		snprintf(changes, sizeof changes, "pmFetch returned the changes %d", r);
		return changes;
	}
	for (int i = 0; i < n_metrics; i++) {
		check_set(&metrics[i], all->vset[i]);
		for (int j = 0; j < metrics[i].n_values; j++)
			take_value(&metrics[i], j, value_at(all->vset[i], j));
	}
	pmFreeResult(all);
	return NULL;
}

/* PAPI_start is a read that hides its error. */
static void start(void)
{
	const char *why = read_all();

	if (why)
		printf("survivable start: %s\n", why);
	/* PAPI subtracts the start only from counters. */
	for (int i = 0; i < n_metrics; i++)
		for (int j = 0; j < metrics[i].n_values; j++)
			metrics[i].zero[j] =
				metrics[i].desc.sem == PM_SEM_COUNTER ? metrics[i].last[j] : 0;
	printf("start\n");
}

static void print_deltas(long number)
{
	printf("read %ld", number);
	for (int i = 0; i < n_metrics; i++)
		for (int j = 0; j < metrics[i].n_values; j++)
			printf(" %" PRIu64, metrics[i].last[j] - metrics[i].zero[j]);
	printf("\n");
}

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

static void read_often(long n, long interval_ms)
{
	const struct timespec pause = { interval_ms / 1000, interval_ms % 1000 * 1000000 };
	long n_good = 0, n_survivable = 0;
	const char *why;

	signal(SIGTERM, stop);
	start();
	for (long i = 0; i < n && !stopped; i++) {
		nanosleep(&pause, NULL);
		why = read_all();
		if (why) {
			n_survivable++;
			printf("survivable read %ld: %s\n", i, why);
		} else {
			n_good++;
			print_deltas(i);
		}
	}
	printf("done %ld %ld\n", n_good, n_survivable);
}

/* --- */

static long number(const char *text)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (errno || end == text || *end || n < 0)
		errx(2, "'%s' is not a number.", text);
	return n;
}

int main(int argc, char *argv[])
{
	bool reads = argc == 4 && !strcmp(argv[1], "read");

	if (!reads && !(argc == 2 && !strcmp(argv[1], "init")))
		errx(2, "Usage: papi-client init | papi-client read N INTERVAL_MS");
	setvbuf(stdout, NULL, _IOLBF, 0);
	init();
	if (reads)
		read_often(number(argv[2]), number(argv[3]));
	return GOOD;
}
