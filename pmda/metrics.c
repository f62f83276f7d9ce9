/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmda/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/macro.h"
#include "pmda/instances.h"
#include "pmda/jobs.h"
#include "pmda/perfevent.h"
#include "pmda/saved.h"

static const struct view *view;
static const struct context *reader; /* the client that gets the values */

/* What a metric means: the function that finds its value, and that function's parameters. */
struct meaning {
	int (*value)(const struct meaning *meaning, unsigned inst, pmAtomValue *ret);
	const char *name; /* of uncored's metric */
	enum direction direction;
	uint32_t flag;
	size_t offset; /* in struct uncore_daemon */
};

/* --- channels --- */

static int channel_traffic(const struct meaning *meaning, unsigned inst, pmAtomValue *ret)
{
	const struct channel *channel = instances_channel(inst);
	const struct uncore_channel_value *value;

	if (!channel || channel->counts[meaning->direction] < 0)
		return PMDA_FETCH_NOVALUES;
	value = &view->readout.channels[channel->counts[meaning->direction]];
	ret->ull = value->count;
	return value->quality & UNCORE_ABSENT ? PMDA_FETCH_NOVALUES : PMDA_FETCH_STATIC;
}

/* --- the flags of a socket's values --- */

/* All flags that any present value has. */
static int quality(const struct meaning *meaning, unsigned socket, pmAtomValue *ret)
{
	const struct uncore_sample *sample = &view->readout.samples[socket];

	ret->ul = 0;
	for (uint32_t i = 0; i < sample->n_values; i++)
		if (!(sample->values[i].quality & UNCORE_ABSENT))
			ret->ul |= sample->values[i].quality;
	return PMDA_FETCH_STATIC;
}

/* How many present values have the flag: pmie and other tools cannot test a bit of a number. */
static int flagged(const struct meaning *meaning, unsigned socket, pmAtomValue *ret)
{
	const struct uncore_sample *sample = &view->readout.samples[socket];

	ret->ul = 0;
	for (uint32_t i = 0; i < sample->n_values; i++)
		if (!(sample->values[i].quality & UNCORE_ABSENT))
			ret->ul += (sample->values[i].quality & meaning->flag) != 0;
	return PMDA_FETCH_STATIC;
}

/*
 * The last sweep that raised the flag, one of those that come and go. With it a tool that compares
 * two fetches sees that the flag was raised between them, even if neither fetch has the flag.
 */
static int raised(const struct meaning *meaning, unsigned socket, pmAtomValue *ret)
{
	const struct uncore_sample *sample = &view->readout.samples[socket];
	int bit = ffs((int)meaning->flag) - 1;

	ret->ull = 0;
	for (uint32_t i = 0; i < sample->n_values; i++)
		if (sample->values[i].raised[bit] > ret->ull)
			ret->ull = sample->values[i].raised[bit];
	return PMDA_FETCH_STATIC;
}

static void print_flags(const char *metric, const struct uncore_value *value, FILE *out)
{
	char words[128];

	if (!value->quality)
		return;
	uncore_quality_words(value->quality, words, sizeof words);
	fprintf(out, "%s%s: %s", ftell(out) ? "; " : "", metric, words);
	if (value->quality & UNCORE_ABSENT)
		fprintf(out, " (%s)", uncore_why(view->reader.handle, value->why));
}

/* "hbm.read: absent (This CPU has no high-bandwidth memory.)", for each metric that has flags. */
static int quality_text(const struct meaning *meaning, unsigned socket, pmAtomValue *ret)
{
	static char text[UNCORE_METRICS_MAX * (UNCORE_NAME_MAX + 128 + UNCORE_TEXT_MAX)];
	const struct uncore_sample *sample = &view->readout.samples[socket];
	_cleanup_file_ FILE *out = fmemopen(text, sizeof text, "w");

	if (!out)
		return PM_ERR_AGAIN;
	for (uint32_t i = 0; i < sample->n_values; i++)
		print_flags(uncore_metric_name(view->reader.handle, i), &sample->values[i], out);
	ret->cp = text;
	return PMDA_FETCH_STATIC;
}

/* --- the sample --- */

static int sample_time(const struct meaning *meaning, unsigned socket, pmAtomValue *ret)
{
	const struct uncore_sample *sample = &view->readout.samples[socket];

	ret->ull = sample->begin_ns + (sample->end_ns - sample->begin_ns) / 2 +
		   (uint64_t)view->epoch_ns;
	return PMDA_FETCH_STATIC;
}

static int sample_age(const struct meaning *meaning, unsigned socket, pmAtomValue *ret)
{
	ret->ull = view->now_ns - view->readout.samples[socket].end_ns;
	return PMDA_FETCH_STATIC;
}

static int sample_skew(const struct meaning *meaning, unsigned socket, pmAtomValue *ret)
{
	ret->ull =
		(view->readout.samples[socket].end_ns - view->readout.samples[socket].begin_ns) / 2;
	return PMDA_FETCH_STATIC;
}

static int sample_sweeps(const struct meaning *meaning, unsigned socket, pmAtomValue *ret)
{
	ret->ull = view->readout.samples[socket].sweep;
	return PMDA_FETCH_STATIC;
}

/* --- the daemon --- */

static int generation(const struct meaning *meaning, unsigned inst, pmAtomValue *ret)
{
	static char text[33];

	snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, view->reader.machine.generation[0],
		view->reader.machine.generation[1]);
	ret->cp = text;
	return PMDA_FETCH_STATIC;
}

static int uptime(const struct meaning *meaning, unsigned inst, pmAtomValue *ret)
{
	ret->ull = (view->now_ns - view->daemon.started_ns) / 1000000;
	return PMDA_FETCH_STATIC;
}

static int clients(const struct meaning *meaning, unsigned inst, pmAtomValue *ret)
{
	ret->ul = view->daemon.n_clients;
	return PMDA_FETCH_STATIC;
}

static int min_interval(const struct meaning *meaning, unsigned inst, pmAtomValue *ret)
{
	ret->ull = view->daemon.min_interval_ns / 1000000;
	return PMDA_FETCH_STATIC;
}

static int quantum(const struct meaning *meaning, unsigned inst, pmAtomValue *ret)
{
	ret->ull = view->daemon.quantum;
	return PMDA_FETCH_STATIC;
}

static int counter(const struct meaning *meaning, unsigned inst, pmAtomValue *ret)
{
	memcpy(&ret->ull, (const char *)&view->daemon + meaning->offset, sizeof ret->ull);
	return PMDA_FETCH_STATIC;
}

static int platform(const struct meaning *meaning, unsigned inst, pmAtomValue *ret)
{
	ret->cp = (char *)view->reader.machine.platform;
	return PMDA_FETCH_STATIC;
}

static bool is_admitted(void)
{
	return reader && reader->admission == ADMITTED;
}

static bool is_refused(void)
{
	return !reader || reader->admission == REFUSED;
}

static int up(const struct meaning *meaning, unsigned inst, pmAtomValue *ret)
{
	ret->ul = view->is_current && is_admitted();
	return PMDA_FETCH_STATIC;
}

/* PAPI takes any number of 32 bits as signed. */
static int up_for_papi(const struct meaning *meaning, unsigned inst, pmAtomValue *ret)
{
	ret->ull = view->is_current && is_admitted();
	return PMDA_FETCH_STATIC;
}

static int reason(const struct meaning *meaning, unsigned inst, pmAtomValue *ret)
{
	ret->cp = (char *)(reader && is_refused() ? reader->refusal : view->reason);
	return PMDA_FETCH_STATIC;
}

/* --- jobs --- */

static struct job job; /* of the instance that is asked about */

static int job_traffic(const struct meaning *meaning, unsigned inst, pmAtomValue *ret)
{
	int index = view_find(view, meaning->name, "bytes");

	return jobs_count(&job, index, view, &ret->ull) ? PMDA_FETCH_STATIC : PMDA_FETCH_NOVALUES;
}

static int metrics_job_begin(const struct meaning *meaning, unsigned inst, pmAtomValue *ret)
{
	ret->ull = (uint64_t)job.run->head.begun_real_ns / 1000000000U;
	return job.run->head.begun_real_ns > 0 ? PMDA_FETCH_STATIC : PMDA_FETCH_NOVALUES;
}

static int job_uid(const struct meaning *meaning, unsigned inst, pmAtomValue *ret)
{
	ret->ul = job.run->head.uid;
	return PMDA_FETCH_STATIC;
}

/* --- the table --- */

#define UNITS_BYTES    PMDA_PMUNITS(1, 0, 0, PM_SPACE_BYTE, 0, 0)
#define UNITS_NANOSEC  PMDA_PMUNITS(0, 1, 0, 0, PM_TIME_NSEC, 0)
#define UNITS_MILLISEC PMDA_PMUNITS(0, 1, 0, 0, PM_TIME_MSEC, 0)
#define UNITS_SEC      PMDA_PMUNITS(0, 1, 0, 0, PM_TIME_SEC, 0)
#define UNITS_COUNT    PMDA_PMUNITS(0, 0, 1, 0, 0, PM_COUNT_ONE)
#define UNITS_NONE     PMDA_PMUNITS(0, 0, 0, 0, 0, 0)
#define SINGULAR       PM_INDOM_NULL

#define METRIC(cluster, item, type, indom, sem, units, ...)                                        \
	{                                                                                          \
		&(struct meaning){ __VA_ARGS__ },                                                  \
		{                                                                                  \
			PMDA_PMID(cluster, item), PM_TYPE_##type, indom, PM_SEM_##sem,             \
				UNITS_##units                                                      \
		}                                                                                  \
	}
#define CHANNEL(item, way)                                                                         \
	METRIC(CHANNEL_CLUSTER, item, U64, CHANNELS_INDOM, COUNTER, BYTES, channel_traffic,        \
		.direction = way)
#define QUALITY(item, type, value)                                                                 \
	METRIC(QUALITY_CLUSTER, item, type, SOCKETS_INDOM, INSTANT, NONE, value)
#define FLAGGED(item, which)                                                                       \
	METRIC(QUALITY_CLUSTER, item, U32, SOCKETS_INDOM, INSTANT, COUNT, flagged, .flag = which)
#define RAISED(item, which)                                                                        \
	METRIC(QUALITY_CLUSTER, item, U64, SOCKETS_INDOM, INSTANT, COUNT, raised, .flag = which)
#define SAMPLE(item, sem, units, value)                                                            \
	METRIC(SAMPLE_CLUSTER, item, U64, SOCKETS_INDOM, sem, units, value)
#define DAEMON(item, type, sem, units, value)                                                      \
	METRIC(DAEMON_CLUSTER, item, type, SINGULAR, sem, units, value)
#define COUNTER(item, units, field)                                                                \
	METRIC(DAEMON_CLUSTER, item, U64, SINGULAR, COUNTER, units, counter,                       \
		.offset = offsetof(struct uncore_daemon, field))
#define JOB_TRAFFIC(item, name)                                                                    \
	METRIC(JOB_CLUSTER, item, U64, JOBS_INDOM, COUNTER, BYTES, job_traffic, name)
#define JOB(item, type, units, value)                                                              \
	METRIC(JOB_CLUSTER, item, type, JOBS_INDOM, DISCRETE, units, value)

pmdaMetric metrics_table[] = {
	CHANNEL(0, DIRECTION_READ),
	CHANNEL(1, DIRECTION_WRITE),
	QUALITY(0, U32, quality),
	QUALITY(1, STRING, quality_text),
	FLAGGED(2, UNCORE_ESTIMATED),
	FLAGGED(3, UNCORE_PARTIAL),
	FLAGGED(4, UNCORE_FROZEN),
	FLAGGED(5, UNCORE_RESET),
	FLAGGED(6, UNCORE_UNCALIBRATED),
	FLAGGED(7, UNCORE_STANDIN),
	RAISED(8, UNCORE_ESTIMATED),
	RAISED(9, UNCORE_PARTIAL),
	RAISED(10, UNCORE_FROZEN),
	RAISED(11, UNCORE_RESET),
	SAMPLE(0, INSTANT, NANOSEC, sample_time),
	SAMPLE(1, INSTANT, NANOSEC, sample_age),
	SAMPLE(2, INSTANT, NANOSEC, sample_skew),
	SAMPLE(3, COUNTER, COUNT, sample_sweeps),
	DAEMON(0, STRING, DISCRETE, NONE, generation),
	DAEMON(1, U64, INSTANT, MILLISEC, uptime),
	DAEMON(2, U32, INSTANT, COUNT, clients),
	COUNTER(3, COUNT, sweeps),
	COUNTER(4, COUNT, refused),
	COUNTER(5, COUNT, throttled),
	COUNTER(6, NANOSEC, cpu_ns),
	DAEMON(7, STRING, DISCRETE, NONE, platform),
	DAEMON(8, U32, INSTANT, NONE, up),
	DAEMON(9, STRING, INSTANT, NONE, reason),
	DAEMON(10, U64, INSTANT, MILLISEC, min_interval),
	DAEMON(11, U64, INSTANT, BYTES, quantum),
	METRIC(UP_CLUSTER, 0, U64, SINGULAR, INSTANT, NONE, up_for_papi),
	JOB_TRAFFIC(0, "dram.read"),
	JOB_TRAFFIC(1, "dram.write"),
	JOB_TRAFFIC(2, "itom"),
	JOB_TRAFFIC(3, "specitom"),
	JOB(4, U64, SEC, metrics_job_begin),
	JOB(5, U32, NONE, job_uid),
};
const unsigned metrics_n = sizeof metrics_table / sizeof metrics_table[0];

void metrics_use(const struct view *new_view)
{
	view = new_view;
}

/* --- for the agent --- */

static bool needs_snapshot(const struct meaning *meaning)
{
	return meaning->value != up && meaning->value != up_for_papi && meaning->value != reason;
}

static bool needs_socket(pmID pmid)
{
	unsigned cluster = pmID_cluster(pmid);

	return cluster == QUALITY_CLUSTER || cluster == SAMPLE_CLUSTER;
}

void metrics_answer(const struct context *context)
{
	reader = context;
}

int metrics_may_tell(void)
{
	if (!view->is_current)
		return PM_ERR_AGAIN;
	if (is_admitted())
		return 0;
	return is_refused() ? PM_ERR_PERMISSION : PM_ERR_AGAIN;
}

int metrics_value(pmdaMetric *metric, unsigned inst, pmAtomValue *ret)
{
	pmID pmid = metric->m_desc.pmid;
	const struct meaning *meaning = metric->m_user;
	int sts;

	if (pmID_cluster(pmid) >= PERFEVENT_FIRST_CLUSTER)
		return perfevent_value(reader, pmid, inst, ret);
	if (!meaning)
		return PM_ERR_PMID;
	sts = needs_snapshot(meaning) ? metrics_may_tell() : 0;
	if (sts < 0)
		return sts;
	if (needs_socket(pmid) && inst >= view->reader.machine.n_sockets)
		return PM_ERR_INST;
	if (pmID_cluster(pmid) == JOB_CLUSTER && !jobs_find(inst, &job))
		return PMDA_FETCH_NOVALUES;
	return meaning->value(meaning, inst, ret);
}

const char *metrics_name(pmID pmid)
{
	for (unsigned i = 0; i < metrics_n; i++)
		if (metrics_table[i].m_desc.pmid == pmid)
			return ((const struct meaning *)metrics_table[i].m_user)->name;
	return NULL;
}
