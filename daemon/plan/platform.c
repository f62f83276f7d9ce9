/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/plan/platform.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"

const char *event_kind_name(enum event_kind kind)
{
	static const char *const names[] = {
		[EVENT_SYSFS] = "sysfs",
		[EVENT_RAW] = "raw",
		[EVENT_PFM] = "pfm",
	};

	return names[kind];
}

int platform_find_metric(const struct platform *platform, const char *name)
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
	return platform_find_metric(platform, name);
}

/* --- which metrics are served --- */

/* Takes the next name of a list, and moves *@names behind it; it is cut if it is too long for a
 * metric. Returns its length; 0: there is none. */
static size_t platform_take_name(const char **names, char ret[PAGE_NAME_MAX])
{
	static const char blanks[] = " \t";
	size_t n;

	*names += strspn(*names, blanks);
	n = strcspn(*names, blanks);
	snprintf(ret, PAGE_NAME_MAX, "%.*s", (int)n, *names);
	*names += n;
	return n;
}

static bool platform_is_listed(const char *globs, const char *name)
{
	char glob[PAGE_NAME_MAX];

	for (size_t n; (n = platform_take_name(&globs, glob));)
		if (n < sizeof glob && fnmatch(glob, name, 0) == 0)
			return true;
	return false;
}

static bool is_disabled(const char *disabled, const char *name)
{
	const size_t n = strlen(PLATFORM_CHECK);

	return platform_is_listed(disabled, name) ||
	       (!strncmp(name, PLATFORM_CHECK, n) && platform_is_listed(disabled, name + n));
}

/* A glob may match nothing, so that different machines can share a file. */
static int check_names(
	const struct platform *platform, const char *key, const char *names, struct fault *fault)
{
	char name[PAGE_NAME_MAX];

	for (size_t n; (n = platform_take_name(&names, name));)
		if (n >= sizeof name ||
			(!strpbrk(name, "*?[") && platform_find_metric(platform, name) < 0))
			return fault_set(fault, -EINVAL,
				"%s in [metrics] names %.*s, which platform %s does not have.", key,
				(int)n, names - n, platform->name);
	return 0;
}

static bool is_asleep(const struct platform_metric *metric, const struct platform_choice *choice)
{
	return metric->is_opt_in && !platform_is_listed(choice->enabled, metric->name);
}

/* Which metrics are left out is for the site to decide. */
static int refuse_too_many(const struct platform *platform, struct fault *fault)
{
	char last[256] = "";

	for (unsigned m = PAGE_METRICS_MAX; m < platform->n_metrics; m++)
		text_append(last, sizeof last, " %s", platform->metrics[m].name);
	return fault_set(fault, -EINVAL,
		"Platform %s has %u metrics that are not disabled, and uncored serves at most %d. "
		"Add those that this site does not need to disable in [metrics] of uncored.conf, "
		"for example the last of the file:%s.",
		platform->name, platform->n_metrics, PAGE_METRICS_MAX, last);
}

int platform_choose(
	struct platform *platform, const struct platform_choice *choice, struct fault *fault)
{
	unsigned n_kept = 0;
	int r = check_names(platform, "disable", choice->disabled, fault);

	if (r == 0)
		r = check_names(platform, "enable", choice->enabled, fault);
	if (r < 0)
		return r;
	for (unsigned m = 0; m < platform->n_metrics; m++) {
		const struct platform_metric *metric = &platform->metrics[m];

		if (is_disabled(choice->disabled, metric->name))
			continue;
		if (is_asleep(metric, choice))
			text_append(platform->asleep, sizeof platform->asleep, " %s", metric->name);
		else
			platform->metrics[n_kept++] = *metric;
	}
	platform->n_metrics = n_kept;
	if (!n_kept)
		return fault_set(fault, -EINVAL,
			"disable in [metrics] names all metrics of platform %s: leave one.",
			platform->name);
	return n_kept > PAGE_METRICS_MAX ? refuse_too_many(platform, fault) : 0;
}

/* --- what a count is worth --- */

int platform_calibrate(
	struct platform *platform, const char *name, uint32_t bytes, struct fault *fault)
{
	int found = platform_find_metric(platform, name);
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
	metric->uncalibrated[0] = metric->uncalibrated_if_divided[0] = '\0';
	metric->calibrated = true;
	return 0;
}
