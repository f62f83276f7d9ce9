/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/plan/platform.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *event_kind_name(enum event_kind kind)
{
	static const char *const names[] = {
		[EVENT_SYSFS] = "sysfs",
		[EVENT_RAW] = "raw",
		[EVENT_PFM] = "pfm",
	};

	return names[kind];
}

static int find_metric(const struct platform *platform, const char *name)
{
	for (unsigned m = 0; m < platform->n_metrics; m++)
		if (!strcmp(platform->metrics[m].name, name))
			return (int)m;
	return -1;
}

int platform_check_of(const struct platform *platform, unsigned metric)
{
	char name[sizeof PLATFORM_CHECK + PAGE_NAME_MAX];

	snprintf(name, sizeof name, PLATFORM_CHECK "%s", platform->metrics[metric].name);
	return find_metric(platform, name);
}

int platform_calibrate(
	struct platform *platform, const char *name, uint32_t bytes, struct fault *fault)
{
	int found = find_metric(platform, name);
	struct platform_metric *metric = found < 0 ? NULL : &platform->metrics[found];
	char first[SCALE_TEXT_MAX], other[SCALE_TEXT_MAX];

	if (!metric || *metric->absent)
		return fault_set(fault, -EINVAL,
			"[calibration] names %s, which platform %s does not count.", name,
			platform->name);
	for (unsigned t = 1; t < metric->n_terms; t++) {
		if (scale_is_same(metric->terms[t].scale, metric->terms[0].scale))
			continue;
		scale_text(metric->terms[0].scale, first);
		scale_text(metric->terms[t].scale, other);
		return fault_set(fault, -EINVAL,
			"[calibration] names %s, whose terms are worth %s and %s %s: copy %s to "
			"the site's folder and change the copy.",
			name, first, other, metric->unit, platform->path);
	}
	for (unsigned t = 0; t < metric->n_terms; t++)
		metric->terms[t].scale = (struct scale){ bytes, 1 };
	metric->uncalibrated = false;
	metric->calibrated = true;
	return 0;
}

struct platform *platform_free(struct platform *platform)
{
	free(platform);
	return NULL;
}
