/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmda/labels.h"

#include <string.h>

#include "pmda/instances.h"
#include "pmda/jobs.h"
#include "pmda/metrics.h"
#include "pmda/numbers.h"
#include "pmda/perfevent.h"
#include "pmda/saved.h"

static const char *const indom_labels[N_INDOMS] = {
	[SOCKETS_INDOM] = "{\"device_type\":[\"socket\",\"memory\"],\"indom_name\":\"per socket\"}",
	[CHANNELS_INDOM] = "{\"device_type\":[\"memory_channel\",\"memory\"],"
			   "\"indom_name\":\"per memory channel\"}",
	[CPUS_INDOM] = "{\"device_type\":\"cpu\",\"indom_name\":\"per reading CPU\"}",
	[JOBS_INDOM] = "{\"device_type\":[\"socket\",\"memory\"],"
		       "\"indom_name\":\"per socket of each open job\"}",
};

/* PCP names the agent in a label only if the agent has no labels for the domain. */
static int add_domain(const char *platform, pmLabelSet **ret)
{
	int sts = pmdaAddLabels(ret, "{\"agent\":\"uncore\"}");

	if (sts < 0 || !platform[0])
		return sts;
	return pmdaAddLabels(ret, "{\"platform\":\"%s\"}", platform);
}

/* The tier is the part before the dot: "hbm.read". Names of sites have no such parts. */
static int labels_add_metric(pmID pmid, pmLabelSet **ret)
{
	const struct number *number = numbers_find(pmid);
	const char *name = number ? number->name : metrics_name(pmid),
		   *dot = name ? strchr(name, '.') : NULL;

	if (pmID_cluster(pmid) == METRIC_CLUSTER && number)
		return pmdaAddLabels(
			ret, "{\"metric\":\"%s\",\"unit\":\"%s\"}", number->name, number->unit);
	return dot ? pmdaAddLabels(ret, "{\"tier\":\"%.*s\"}", (int)(dot - name), name) : 0;
}

int labels_add(int ident, int type, const char *platform, pmLabelSet **ret)
{
	unsigned serial = pmInDom_serial((pmInDom)ident);

	switch (type) {
	case PM_LABEL_DOMAIN:
		return add_domain(platform, ret);
	case PM_LABEL_INDOM:
		return serial < N_INDOMS ? pmdaAddLabels(ret, "%s", indom_labels[serial]) : 0;
	case PM_LABEL_ITEM:
		return labels_add_metric((pmID)ident, ret);
	default:
		return 0;
	}
}

static int labels_add_channel(unsigned inst, pmLabelSet **ret)
{
	const struct channel *channel = instances_channel(inst);

	if (!channel)
		return 0;
	return pmdaAddLabels(ret,
		"{\"socket\":%u,\"package\":%u,\"channel\":\"%s\",\"tier\":\"%s\"}",
		channel->socket, instances_package(channel->socket), channel->label, channel->tier);
}

/* The ID has no character that JSON would require to be escaped. */
static int add_job(unsigned inst, pmLabelSet **ret)
{
	struct job job;
	unsigned package;

	if (!jobs_find(inst, &job))
		return 0;
	package = instances_package(job.socket);
	return pmdaAddLabels(ret,
		"{\"jobid\":\"%s\",\"uid\":%u,\"socket\":%u,\"package\":%u,\"used\":%s}",
		job.run->head.id, job.run->head.uid, job.socket, package,
		packages_have(&job.run->head.packages, package) ? "true" : "false");
}

int labels_of_instance(pmInDom indom, unsigned inst, pmLabelSet **ret)
{
	switch (pmInDom_serial(indom)) {
	case SOCKETS_INDOM:
		return pmdaAddLabels(
			ret, "{\"socket\":%u,\"package\":%u}", inst, instances_package(inst));
	case CHANNELS_INDOM:
		return labels_add_channel(inst, ret);
	case CPUS_INDOM:
		return pmdaAddLabels(ret, "{\"cpu\":%u}", perfevent_cpu(inst));
	case JOBS_INDOM:
		return add_job(inst, ret);
	default:
		return 0;
	}
}
