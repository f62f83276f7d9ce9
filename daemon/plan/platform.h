/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Platform files: how to recognise a machine, and what to count on it (uncore-platform(5)).
 *
 * A metric is a sum of terms; a term may be subtracted. Each term is one event on every PMU
 * instance ("box") whose name matches a glob, and each count is worth a fixed amount of the
 * metric's unit, for example 64 bytes. An event is a list of alternatives: the first that resolves
 * on the running kernel is taken.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/page.h"
#include "daemon/base/fault.h"
#include "daemon/machine/machine.h"
#include "daemon/plan/scale.h"

enum {
	PLATFORM_METRICS_MAX = 32, /* of a file; uncored serves PAGE_METRICS_MAX of them */
	PLATFORM_TERMS_MAX = 8,    /* AMD's data fabric has an event for each of 8 channels */
	PLATFORM_CHOICES_MAX = 4,
	PLATFORM_SOURCE_MAX = 192,
	PLATFORM_BYTES_MAX =
		16777216, /* four times the largest known, POWER10's ocmb: 65536 x 64 */
};

#define PLATFORM_CHECK "check."

enum event_kind { EVENT_SYSFS, EVENT_RAW, EVENT_PFM };
enum { EVENT_KINDS = EVENT_PFM + 1 };

/* "sysfs", "raw", "pfm": as in platform files. */
const char *event_kind_name(enum event_kind kind);

/* One way to name an event: "sysfs:cas_count_read", "raw:event=0x04,umask=0x0f", "pfm:...". */
struct event_choice {
	enum event_kind kind;
	char text[96]; /* the part after the colon; "{n}" stands for the box's number */
};

struct event_choices {
	unsigned n;
	struct event_choice choice[PLATFORM_CHOICES_MAX];
};

struct platform_term {
	char pmu[128]; /* globs over the names in bus/event_source/devices */
	struct event_choices event;
	struct event_choices clock; /* counts the box's own time; n == 0: none */
	uint32_t clock_ms;          /* the clock must change at least once in this time */
	struct scale scale;         /* what a count is worth in the metric's unit */
	bool subtract;
	char optional[PAGE_TEXT_MAX]; /* the part that is not counted without such a PMU; "": not
					 optional */
	char channel[16];             /* each box is a memory channel of this name; "": none */
};

struct platform_metric {
	char name[PAGE_NAME_MAX];
	char unit[PAGE_UNIT_MAX];    /* one of common/unit.h */
	uint32_t pmid;               /* the site's number for PCP; 0: none */
	char absent[PAGE_TEXT_MAX];  /* why this platform lacks it; "": it has it */
	char partial[PAGE_TEXT_MAX]; /* the part that no PMU of this platform counts; "": none */
	char source[PLATFORM_SOURCE_MAX];
	char measured[PLATFORM_SOURCE_MAX]; /* who compared it with known traffic, and where */
	char confidence[16];                /* "high", "medium", "low" */
	char uncalibrated[PAGE_TEXT_MAX]; /* why it is in doubt what a count is worth; "": it is not
					   */
	char uncalibrated_if_divided[PAGE_TEXT_MAX]; /* the same of sockets with several NUMA nodes
						      */
	bool calibrated;                             /* the site has set what a count is worth */
	bool is_opt_in;                              /* counted only where the site enables it */
	unsigned n_terms;
	struct platform_term terms[PLATFORM_TERMS_MAX];
};

struct platform {
	char name[PAGE_NAME_MAX]; /* the file's name without .conf */
	char title[96];
	char path[256];
	struct machine_pattern pattern;
	bool standin;
	char nodes[512];         /* the channels of each NUMA node of a socket; "": not known */
	char pmu_sockets[128];   /* globs of the PMUs of each socket; "": cpumasks tell it */
	char pmu_per_socket[64]; /* globs: any CPU of a socket counts all of it; "": none */
	uint32_t sweep_every_s;  /* read the counters this often even without rings; 0: no need */
	char unsupported[PLATFORM_SOURCE_MAX]; /* why nothing is counted here; "": supported */
	char asleep[512]; /* " NAME" of each opt-in metric that the site has not enabled */
	unsigned n_metrics;
	struct platform_metric metrics[PLATFORM_METRICS_MAX];
};

/* The metric of this name; -1: there is none. */
int platform_find_metric(const struct platform *platform, const char *name);

/* The metric check.NAME, which counts the same as @metric by other counters; -1: there is none. */
int platform_check_of(const struct platform *platform, unsigned metric);

/* The site's choice: names of metrics, or globs, with blanks between. */
struct platform_choice {
	const char *enabled, *disabled;
};

/*
 * Leaves out the metrics that the site has disabled, and their checks, and the opt-in metrics that
 * it has not enabled. The others keep their order. -EINVAL: a name is not a metric of @platform; or
 * no metric is left, or more than PAGE_METRICS_MAX are.
 */
int platform_choose(
	struct platform *platform, const struct platform_choice *choice, struct fault *fault);

/*
 * Sets the worth of one count of metric @name to the site's @bytes (or whatever the metric's unit
 * is). The metric is then no longer uncalibrated. -EINVAL: there is no such metric, or it is
 * absent, or its terms have different scales.
 */
int platform_calibrate(
	struct platform *platform, const char *name, uint32_t bytes, struct fault *fault);
